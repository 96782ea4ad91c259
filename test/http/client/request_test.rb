# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/http"

class ClientRequestTest < PeltonTest
  Response = Struct.new(:status, :headers)

  def test_a_head
    assert_equal <<~HEAD.gsub("\n", "\r\n"), request("GET", "http://example.com:81/a?b=c#d").to_head
      GET /a?b=c HTTP/1.1
      host: example.com:81
      user-agent: Pelton/#{Pelton::VERSION}
      accept: */*

    HEAD
    assert_match(/\AGET http:\/\/example.com\/ HTTP\/1.1\r\nhost: example.com\r\n.*x: y\r\n\r\n\z/m,
      request("GET", "http://example.com").to_head(absolute: true, extra: {"x" => "y"}))
  end

  def test_where_the_body_ends
    assert_match(/^content-length: 2\r$/, request("POST", "http://x/", body: "ab").to_head)
    assert_match(/^content-length: 0\r$/, request("POST", "http://x/").to_head)
    assert_match(/^transfer-encoding: chunked\r$/, request("PUT", "http://x/", body: ["ab"].each).to_head)
    refute_match(/content-length|transfer-encoding/, request("DELETE", "http://x/").to_head)
  end

  def test_a_body_that_can_be_read_once_is_kept_for_those_who_see_it_first
    [request("GET", "http://x/"), request("PUT", "http://x/", body: "ab")].each { |one| assert_same one, one.buffered }
    once = request("PUT", "http://x/", body: ["ab"].each)
    2.times { assert_equal ["ab"], once.buffered.body.to_enum(:each).to_a }

    refute_same once, once.buffered
    assert_equal once.to_head, once.buffered.to_head
  end

  def test_urls
    assert_equal "http://x/v1/users?a=1&b=2+3",
      request("GET", "users?a=1", base: URI("http://x/v1/"), query: {b: "2 3"}).url.to_s
    assert_equal "http://x/users", request("GET", "/users", base: URI("http://x/v1/")).url.to_s
    ["ftp://x/", "x", "http://", "http://a b/", "http://x/\r\nHost: y", "javascript:1", nil].each do |url|
      assert_raises(ArgumentError, url.inspect) { request("GET", url) }
    end
  end

  def test_nothing_is_sent_that_could_be_taken_for_something_else
    ["a\r\nb", "a\nb", "a\0b"].each do |value|
      assert_raises(ArgumentError) { request("GET", "http://x/", headers: {"x" => value}) }
    end
    ["a b", "a:", "", "a\r\n", "ä"].each do |name|
      assert_raises(ArgumentError) { request("GET", "http://x/", headers: {name => "x"}) }
    end
    ["", "GET ", "G\r\n", "G T"].each { |method| assert_raises(ArgumentError) { request(method, "http://x/") } }
    %w[Content-Length Transfer-Encoding].each do |name|
      assert_raises(ArgumentError) { request("GET", "http://x/", headers: {name => "1"}) }
    end
  end

  def test_text_of_any_encoding
    head = request("GET", "http://x/ä", headers: {"a" => "ä", "b" => "\xff".b, :c => "ä".encode("ISO-8859-1")}).to_head

    assert_includes head, "GET /%C3%A4 HTTP/1.1\r\n"
    assert_includes head, "a: ä\r\nb: \xff\r\nc: \xe4\r\n".b
    assert_raises(ArgumentError) { request("GET", "http://x/", headers: {"a" => "b".encode("UTF-16LE")}) }
  end

  def test_a_header_that_is_nil_is_not_sent
    assert_equal "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
      request("GET", "http://x/",
        defaults: {"y" => "z"}, headers: {"Accept" => nil, "User-Agent" => nil, "y" => nil}).to_head
  end

  def test_a_method_may_be_a_symbol
    assert_equal "GET", request(:get, "http://x/").method
    assert_equal "get", request("get", "http://x/").method # methods are case-sensitive
  end

  def test_an_error_says_what_was_asked_for
    error = request("GET", "http://me:secret@x/a").named(Pelton::ProtocolError.new("that was no HTTP"))

    assert_instance_of Pelton::ProtocolError, error
    assert_equal "GET http://x/a: that was no HTTP", error.message
  end

  def test_several_headers_of_one_name
    assert_match(/^x: 1\r\nx: 2\r$/, request("GET", "http://x/", headers: {"X" => %w[1 2]}).to_head)
  end

  def test_credentials
    assert_equal "Basic YTpiOmM=", request("GET", "http://x/", basic_auth: ["a", "b:c"]).headers["authorization"]
    inside = request("GET", "http://us%40er:p+w@x/")

    assert_equal "Basic #{["us@er:p+w"].pack("m0")}", inside.headers["authorization"]
    assert_equal "http://x/", inside.url.to_s
  end

  def test_the_clients_credentials_are_for_its_base_alone
    secret = {"authorization" => "secret", "x" => "1"}

    assert_equal "secret", request("GET", "/a", base: URI("http://x/"), defaults: secret).headers["authorization"]
    away = request("GET", "http://y/", base: URI("http://x/"), defaults: secret).headers
    assert_equal [nil, "1"], away.values_at("authorization", "x")
    assert_nil request("GET", "https://x/", base: URI("http://x/"), defaults: secret).headers["authorization"]
  end

  def test_what_a_url_may_not_contain_is_escaped
    {"http://x/a b?q=\u00fc" => "http://x/a%20b?q=%C3%BC", "http://x/%20?a[]=1|2" => "http://x/%20?a[]=1%7C2",
     " http://[::1]/\u00fc\n" => "http://[::1]/%C3%BC",
     "http://x/\"<>^`{}\\" => "http://x/%22%3C%3E%5E%60%7B%7D%5C"}.each do |given, sent|
      assert_equal sent, request("GET", given).url.to_s
    end
    base = URI("http://x/a/")

    assert_equal "http://x/a/b%20c", request("GET", "b c", base: base).url.to_s
    assert_equal "http://x/%FF",
      request("GET", "http://x/").redirected(Response.new(302, {"location" => "/\xff"})).url.to_s
    ["http://x y/", "http://\u00fc/", "http://x\r\n/", "http://x/a\0b", "http://x/a\tb", "//x"].each do |url|
      assert_raises(ArgumentError, url) { request("GET", url) }
    end
  end

  def test_what_may_be_repeated
    assert_predicate request("GET", "http://x/"), :repeatable?
    refute_predicate request("POST", "http://x/"), :repeatable?
    assert_predicate request("PUT", "http://x/", body: "x"), :repeatable?
    once = request("PUT", "http://x/", body: [].each)
    assert_predicate once, :repeatable?
    once.body.each {}
    refute_predicate once, :repeatable?
  end

  def test_who_is_asked_before_the_body_is_sent
    headers = ->(expect, body) { request("POST", "http://x/", body: body, expect: expect).headers["expect"] }

    assert_equal "100-continue", headers[2, "abc"]
    assert_nil headers[3, "abc"]
    assert_nil headers[nil, "abc"]
    assert_equal "100-continue", headers[3, ["abc"].each]
    assert_nil headers[0, nil]
    asked = request("POST", "http://x/", body: "abc", expect: 0)

    assert_equal true, asked.asks?
    assert_equal false, asked.unasked.asks?
    assert_equal true, asked.asks?
    refute_match(/expect/i, asked.redirected(Response.new(303, {"location" => "/"})).to_head)
  end

  # As with those of the URL that was asked for, they are used, and no longer seen.
  def test_credentials_in_a_redirect
    first = request("GET", "http://us:er@x/")
    second = first.redirected(Response.new(302, {"location" => "http://an:other@x/a"}))

    assert_equal "Basic #{["an:other"].pack("m0")}", second.headers["authorization"]
    assert_equal "http://x/a", second.url.to_s
    assert_equal "Basic #{["us:er"].pack("m0")}", first.headers["authorization"]
  end

  def test_a_redirect_from_https_to_http_is_not_followed
    assert_nil request("GET", "https://x/").redirected(Response.new(302, {"location" => "http://x/"}))
    assert_equal "https://y/",
      request("GET", "http://x/").redirected(Response.new(302, {"location" => "https://y/"})).url.to_s
    assert_nil request("GET", "http://x/").redirected(Response.new(302, {}))
    assert_nil request("GET", "http://x/").redirected(Response.new(304, {"location" => "/"}))
    assert_raises(Pelton::HTTP::RedirectError) do
      request("GET", "http://x/").redirected(Response.new(302, {"location" => "ftp://y/"}))
    end
  end

  private

  def request(method, url, base: nil, query: nil, defaults: {}, headers: {}, body: nil, basic_auth: nil, expect: nil)
    Pelton::HTTP::ClientRequest.new(method, url, base: base, query: query, defaults: defaults, headers: headers,
      body: body,
      json: Pelton::HTTP::ClientRequest::NONE, form: nil, basic_auth: basic_auth, decode: false, expect: expect)
  end
end
