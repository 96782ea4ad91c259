# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebCookiesTest < PeltonTest
  SECRETS = ["s" * 32].freeze

  def cookies(header = nil, scheme: "http")
    Pelton::Web::Cookies.new({"HTTP_COOKIE" => header, "rack.url_scheme" => scheme}, secrets: SECRETS)
  end

  def sent(cookies) = {}.tap { |headers| cookies.write(headers) }["set-cookie"]&.then { |lines| Array(lines) }

  # What the client sends back.
  def returned(cookies) = cookies(sent(cookies).map { |line| line[/\A[^;]*/] }.join("; "))

  def test_what_the_client_has_sent
    jar = cookies("a=1; b=x%20y; c; a=2")

    assert_equal "1", jar[:a]
    assert_equal "x y", jar["b"]
    assert_nil jar["c"]
    assert_nil jar[:d]
    assert_equal({"a" => "1", "b" => "x y"}, jar.to_h)
    assert_nil sent(jar)
  end

  def test_what_is_no_text_is_absent
    jar = cookies("a=%ff; b=%00; c=%zz; d=1; \xff=\xff; =; ;;")

    assert_equal [nil, nil, "%zz", "1"], %w[a b c d].map { |name| jar[name] }
  end

  def test_the_first_of_a_name_counts
    jar = cookies("a=1;a=2;  b==;c; c=3;d=%zz+\xff;e=%zz%00")

    assert_equal ["1", "=", "3", nil, "%zz%00"], %w[a b c d e].map { |name| jar[name] }
    assert_equal %w[a b c e], jar.to_h.keys
    jar.delete(:b)

    assert_equal %w[a c e], jar.to_h.keys
  end

  def test_a_cookie_is_careful_by_default
    jar = cookies
    jar[:a] = "x; Path=/evil\r\nb: c"

    assert_equal ["a=x%3B+Path%3D%2Fevil%0D%0Ab%3A+c; path=/; httponly; samesite=lax"], sent(jar)
    assert_equal "x; Path=/evil\r\nb: c", jar[:a]
    secure = cookies(scheme: "https")
    secure[:a] = 1

    assert_equal ["a=1; path=/; secure; httponly; samesite=lax"], sent(secure)
  end

  def test_attributes
    jar = cookies(scheme: "https")
    jar[:a] = {
      value: "1",
      path: "/x",
      domain: "example.org",
      max_age: 60,
      expires: Time.at(0),
      httponly: false,
      same_site: :none,
      partitioned: true
    }

    assert_equal ["a=1; domain=example.org; path=/x; max-age=60; expires=Thu, 01 Jan 1970 00:00:00 GMT; secure; " \
      "samesite=none; partitioned"],
      sent(jar)
  end

  def test_only_changes_are_sent
    jar = cookies("a=1; b=2")
    jar[:a] = "1"
    jar[:b] = "3"
    jar[:b] = "4"
    headers = {"set-cookie" => "other=1"}
    jar.write(headers)

    assert_equal ["other=1", "b=4; path=/; httponly; samesite=lax"], headers["set-cookie"]
    assert_nil sent(jar)
  end

  def test_a_cookie_is_forgotten
    jar = cookies("a=1")

    assert_equal "1", jar.delete(:a)
    refute jar.key?(:a)
    assert_equal ["a=; path=/; max-age=0; httponly; samesite=lax"], sent(jar)
  end

  def test_what_no_header_may_say
    {"a b" => "1", "" => "1", "a\r\nb" => "1", "a" => {value: "1", path: "/\r\nx: y"},
     "b" => {value: "1", domain: "x; Secure"}, "c" => {value: "1", same_site: :no},
     "d" => {value: "1", max_age: "1; x"}, "e" => {value: "1", maxage: 1}}.each do |name, value|
      assert_raises(ArgumentError, name) { cookies[name] = value }
    end
  end

  def test_what_browsers_would_refuse
    {"__Host-a" => "1", "__Secure-a" => "1", "a" => {value: "1", same_site: :none},
     "b" => {value: "1", partitioned: true}}.each do |name, value|
      assert_match(/must be Secure/, assert_raises(ArgumentError) { cookies[name] = value }.message)
    end
    assert_raises(ArgumentError) { cookies(scheme: "https")["__Host-a"] = {value: "1", domain: "example.org"} }
  end

  def test_a_cookie_has_4096_bytes_at_most
    jar = cookies
    jar[:a] = "x" * 4095
    error = assert_raises(Pelton::Web::CookieOverflow) { jar[:b] = "x" * 4096 }

    assert_match(/the cookie b has 4097 bytes; browsers keep 4096/, error.message)
  end

  def test_signed_and_encrypted_cookies
    %i[signed encrypted].each do |kind|
      jar = cookies
      jar.public_send(kind)[:a] = {"user" => [7, nil, "é"]}
      token = jar[:a]

      assert_equal({"user" => [7, nil, "é"]}, returned(jar).public_send(kind)[:a])
      assert_nil cookies("b=#{token}").public_send(kind)[:b], "another cookie's value"
      assert_nil cookies("a=#{token.chop}").public_send(kind)[:a]
      assert_nil cookies.public_send(kind)[:a]
    end
  end

  def test_one_kind_is_not_taken_for_the_other
    jar = cookies
    jar.signed[:a] = 1

    assert_nil returned(jar).encrypted[:a]
  end

  def test_the_time_of_a_signed_cookie_holds_whatever_the_client_does
    jar = cookies
    jar.signed[:a] = {value: 1, expires: Time.now - 1}
    jar.signed[:b] = {value: 1, max_age: 0}
    jar.signed[:c] = {value: 1, max_age: 100}

    back = returned(jar)

    assert_equal [nil, nil, 1], %i[a b c].map { |name| back.signed[name] }
  end

  def test_without_secrets_there_are_plain_ones
    jar = Pelton::Web::Cookies.new({"HTTP_COOKIE" => "a=1"})

    assert_equal "1", jar[:a]
    assert_raises(Pelton::Web::ConfigurationError) { jar.signed[:a] }
  end
end
