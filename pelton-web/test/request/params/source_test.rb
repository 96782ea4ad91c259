# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebParamsSourceTest < PeltonTest
  FORM = "application/x-www-form-urlencoded"

  def test_the_query_the_form_and_json
    assert_equal({"a" => "1", "b" => {"c" => ["é"]}}, read("a=1&b[c][]=%C3%A9"))
    assert_equal({"a" => "2", "q" => "1"}, read("a=1&q=1", "a=2", FORM))
    assert_equal({"q" => "1", "a" => [1, {"b" => nil}]},
      read("q=1", '{"a":[1,{"b":null}]}', "application/json; charset=utf-8"))
    assert_equal({"_json" => [1]}, read("", "[1]", "application/vnd.api+json"))
    assert_equal({}, read("", "", "application/json"))
    assert_equal({}, read("", "a=1", "text/plain"))
  end

  def test_text_is_utf_8_without_nul
    ["a=%ff", "%ff=a", "a[b]=%c0%80", "a=%00", "a%00=1", "a[]=%00"].each do |text|
      bad(text)
      bad("", text, FORM)
    end
    ["\"\xff\"", '{"a":"\u0000"}', '{"\u0000":1}', '["\ud800"]'].each { |text| bad("", text, "application/json") }
  end

  def test_malformed
    bad("a=%zz")
    bad("a=1&a[b]=2")
    ["{", "nul", "[1,]", "NaN", "[1] 2", '{"json_class":"String"'].each { |text| bad("", text, "application/json") }
    assert_equal({"json_class" => "String"}, read("", '{"json_class":"String"}', "application/json"))
  end

  def test_limits
    bad("a#{"[b]" * 17}=1")
    bad((["a=1"] * 1001).join("&"))
    bad("a=#{"x" * (1 << 20)}")
    bad("", "a=#{"x" * (1 << 20)}", FORM)
    bad("", "[" * 20 + "]" * 20, "application/json")
    bad("", "[" * 100_000, "application/json")
    bad("", JSON.generate((0..1000).to_h { |number| [number, 1] }), "application/json")
    bad("", JSON.generate({a: [[1] * 500, {b: [1] * 500}]}), "application/json")
    ["1e400", "[-1e400]", '{"a":{"b":1e999}}'].each { |text| bad("", text, "application/json") }
    bad("", "--X\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\n#{"x" * (1 << 20)}\r\n--X--\r\n",
      "multipart/form-data; boundary=X")
    assert_equal 998, read("", JSON.generate({a: {b: [1] * 998}}), "application/json").dig("a", "b").size
    assert_equal 413,
      assert_raises(Pelton::Web::TooLarge) { read("", "\"#{"x" * (1 << 20)}\"", "application/json") }.status
    assert_equal 1000, read((0...1000).map { |number| "a#{number}=1" }.join("&")).size
  end

  def test_an_application_s_own_limits
    settings = Pelton::Web::Settings.new.tap { |all| all.params = {count: 2} }

    assert_raises(Pelton::Web::BadRequest) { read("a=1&b=2&c=3", settings: settings) }
  end

  def test_a_form_in_parts
    upload = parts(part('name="file"; filename="..\\\\..\\\\x.txt"', "bytes\0",
      "text/plain") + part('name="a[b]"', "é"))

    assert_equal({"b" => "é"}, upload["a"])
    assert_equal "x.txt", upload["file"].original_filename
    assert_equal "text/plain", upload["file"].content_type
    assert_equal "bytes\0", upload["file"].read
    assert_equal 6, upload["file"].size
  end

  def test_a_malformed_form_in_parts
    [part('name="a"', "\xff"), part('name="a"', "\0"), "--x\r\nnothing", part('name="a"', "1") * 1001,
      "--x\r\n#{"a: b\r\n" * 100_000}",
      part("name=\"a#{"[b]" * 20}\"", "1"), part('name="a"', "1", "text/plain; charset=utf-16")].each do |body|
      assert_raises(Pelton::Web::BadRequest, body[0, 40].inspect) { parts(body) }
    end
  end

  private

  def part(disposition, body, type = nil)
    "--x\r\ncontent-disposition: form-data; #{disposition}\r\n#{"content-type: #{type}\r\n" if type}\r\n".b + body.b +
      "\r\n".b
  end

  def parts(body) = read("", "#{body}--x--\r\n".b, "multipart/form-data; boundary=x")

  def bad(...) = assert_raises(Pelton::Web::BadRequest, Pelton::Web::TooLarge) { read(...) }

  def read(query, body = "", type = nil, settings: nil)
    env = {"REQUEST_METHOD" => "POST", "QUERY_STRING" => query.b, "CONTENT_TYPE" => type,
           "CONTENT_LENGTH" => body.bytesize.to_s, "rack.input" => StringIO.new(body.b)}
    Pelton::Web::Params::Source.read(Pelton::Web::Request.new(env, settings))
  end
end
