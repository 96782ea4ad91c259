# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebProblemTest < PeltonTest
  def answer(accept, verb = "GET")
    Pelton::Web::Problem.new(422, detail: "<b> is missing", members: {errors: []}, headers: {"x-a" => "b"}).response({"HTTP_ACCEPT" => accept, "REQUEST_METHOD" => verb})
  end

  def test_json_for_those_who_accept_it
    ["application/json", "application/problem+json", "application/json, text/plain;q=0.5"].each do |accept|
      status, headers, body = answer(accept)

      assert_equal [422, "application/problem+json", "b"], [status, headers["content-type"], headers["x-a"]]
      assert_equal({"title" => Rack::Utils::HTTP_STATUS_CODES[422], "status" => 422, "detail" => "<b> is missing", "errors" => []}, JSON.parse(body.join))
    end
  end

  def test_a_page_for_browsers
    _, headers, body = answer("text/html,application/xhtml+xml,*/*;q=0.8")

    assert_equal "text/html; charset=utf-8", headers["content-type"]
    assert_includes body.join, "&lt;b&gt; is missing"
  end

  def test_text_for_all_others
    [nil, "*/*", "image/png", "text/plain"].each do |accept|
      assert_equal ["text/plain; charset=utf-8", "#{Rack::Utils::HTTP_STATUS_CODES[422]}: <b> is missing\n"], answer(accept).then { |_, headers, body| [headers["content-type"], body.join] }
    end
  end

  def test_head_has_no_body
    assert_empty answer("*/*", "HEAD").last
  end
end
