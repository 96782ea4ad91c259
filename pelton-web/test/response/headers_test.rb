# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebResponseHeadersTest < PeltonTest
  def headers = @headers ||= Pelton::Web::Response::Headers.new

  def test_names_are_in_lower_case
    headers["Content-Type"] = "text/plain"
    headers.update("X-A" => 1, :"x-b" => %w[c d])

    assert_equal({"content-type" => "text/plain", "x-a" => "1", "x-b" => %w[c d]}, headers.to_h)
    assert_equal "text/plain", headers["CONTENT-TYPE"]
  end

  def test_nil_deletes
    headers["a"] = "b"
    headers["A"] = nil

    assert_empty headers
  end

  def test_no_value_begins_another_header
    ["a\r\nset-cookie: b", "a\nb", "a\rb", "a\0", ["a", "b\nc"], "\xff\n"].each do |value|
      assert_raises(ArgumentError, value.inspect) { headers["x"] = value }
      assert_raises(ArgumentError, value.inspect) { headers.merge!("x" => value) }
      assert_raises(ArgumentError, value.inspect) { headers.store("x", value) }
    end
  end

  def test_a_name_is_a_token
    ["", "a b", "a:", "a\nb", "é", "a(b"].each do |name|
      assert_raises(ArgumentError, name.inspect) { headers[name] = "x" }
    end
  end
end
