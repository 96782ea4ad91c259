# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebForgeryTest < PeltonTest
  ENVIRONMENT = {"REQUEST_METHOD" => "POST", "rack.url_scheme" => "https", "HTTP_HOST" => "shop.example"}.freeze

  def judge(headers = {}, **options) = Pelton::Web::Forgery.judge(ENVIRONMENT.merge(headers), **options)

  def site(value, **headers) = judge({"HTTP_SEC_FETCH_SITE" => value, **headers})

  def origin(value, headers = {}) = judge({"HTTP_ORIGIN" => value, **headers})

  def test_methods_that_change_nothing
    %w[GET HEAD OPTIONS TRACE].each do |verb|
      assert_equal :own, judge({"REQUEST_METHOD" => verb, "HTTP_SEC_FETCH_SITE" => "cross-site"})
    end
    %w[POST PUT PATCH DELETE get PROPFIND].each do |verb|
      assert_equal :forged, judge({"REQUEST_METHOD" => verb, "HTTP_SEC_FETCH_SITE" => "cross-site"})
    end
  end

  def test_browsers_that_say_the_site
    assert_equal %i[own own forged forged], %w[same-origin none same-site cross-site].map { |value| site(value) }
    assert_equal :own, judge({"HTTP_SEC_FETCH_SITE" => "same-site"}, same_site: true)
    assert_equal :forged, judge({"HTTP_SEC_FETCH_SITE" => "cross-site"}, same_site: true)
  end

  def test_what_is_no_site_is_forged
    ["", "SAME-ORIGIN", "same-origin, none", "x"].each { |value| assert_equal :forged, site(value) }
  end

  def test_the_site_counts_more_than_the_origin
    assert_equal :forged, site("cross-site", "HTTP_ORIGIN" => "https://shop.example")
    assert_equal :own, site("same-origin", "HTTP_ORIGIN" => "http://behind.a.proxy")
  end

  # Chrome before 76, Firefox before 90, Safari before 16.4, and all where there is no TLS.
  def test_older_browsers_say_the_origin
    assert_equal :own, origin("https://shop.example")
    ["http://shop.example", "https://shop.example:8443", "https://evil.example", "https://shop.example.evil.example",
      "null", "", "https://shop.example/", "shop.example"].each do |value|
      assert_equal :forged, origin(value), value
    end
  end

  def test_ports_and_letters
    assert_equal :own, origin("https://shop.example", "HTTP_HOST" => "Shop.Example:443")
    assert_equal :own, origin("http://shop.example", "HTTP_HOST" => "shop.example:80", "rack.url_scheme" => "http")
    assert_equal :own, origin("http://[::1]:9292", "HTTP_HOST" => "[::1]:9292", "rack.url_scheme" => "http")
    assert_equal :forged, origin("https://shop.example", "HTTP_HOST" => "shop.example:80")
  end

  # HTTP/1.0 has no Host.
  def test_without_a_host
    own = {"HTTP_HOST" => nil, "SERVER_NAME" => "shop.example", "SERVER_PORT" => "443"}

    assert_equal :own, origin("https://shop.example", own)
    assert_equal :forged, origin("https://evil.example", own)
  end

  def test_trusted_origins
    trusted = ["https://pay.example"]

    assert_equal :own,
      judge({"HTTP_SEC_FETCH_SITE" => "cross-site", "HTTP_ORIGIN" => "https://pay.example"}, trusted_origins: trusted)
    assert_equal :forged, judge({
      "HTTP_SEC_FETCH_SITE" => "cross-site",
      "HTTP_ORIGIN" => "https://pay.example.evil.example"
    }, trusted_origins: trusted)
  end

  def test_clients_that_say_neither_need_a_token
    assert_equal :unknown, judge
    assert_equal :unknown, judge({"HTTP_REFERER" => "https://shop.example/"})
  end

  def test_what_browsers_never_send_by_themselves
    assert_equal :own, judge({"HTTP_AUTHORIZATION" => "Bearer x"})
    ["Basic eDp5", "basic eDp5", "Digest x", "Negotiate x", "NTLM x"].each do |value|
      assert_equal :unknown, judge({"HTTP_AUTHORIZATION" => value})
    end
    assert_equal :forged, judge({"HTTP_AUTHORIZATION" => "Bearer x", "HTTP_ORIGIN" => "https://evil.example"})
  end

  def test_tokens
    session, other = {}, {}
    one, two = Array.new(2) { Pelton::Web::Forgery.token(session) }
    Pelton::Web::Forgery.token(other)

    refute_equal one, two
    assert(Pelton::Web::Forgery.token?(one, session) && Pelton::Web::Forgery.token?(two, session))
    refute Pelton::Web::Forgery.token?(one, other)
    refute Pelton::Web::Forgery.token?(one, {})
  end

  def test_what_is_no_token
    session = {}
    token = Pelton::Web::Forgery.token(session)
    [nil, "", token.chop, "#{token}A", token.swapcase, "%", "\xff", ["a"], {"a" => 1}, "A" * 86,
      session["csrf"]].each do |text|
      refute Pelton::Web::Forgery.token?(text, session), text.inspect
    end
  end
end
