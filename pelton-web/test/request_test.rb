# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRequestTest < PeltonTest
  def test_a_body_is_a_form_or_json_if_it_says_so
    {"application/json" => [true, true], "application/problem+json; charset=utf-8" => [true, true],
     "application/jsonp" => [false, false], "text/json" => [false, false],
     "application/x-www-form-urlencoded" => [false, true], "multipart/form-data; boundary=x" => [false, true],
     nil => [false, false]}.each do |type, expected|
      assert_equal expected, request(type).then { |one| [one.json?, one.body?] }, type.inspect
    end
  end

  def test_json_is_read_once
    one = request("application/json", "null")

    assert_nil one.json
    assert_nil one.json
  end

  def test_unknown_limits_are_refused
    assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::Settings.new.params = {size: 1} }
  end

  private

  def request(type, body = "")
    Pelton::Web::Request.new({"REQUEST_METHOD" => "POST", "CONTENT_TYPE" => type,
      "rack.input" => StringIO.new(body.dup), "QUERY_STRING" => ""})
  end
end
