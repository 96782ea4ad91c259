# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/http"

# What a server sets, and whether it may.
class HTTPClientCookieTest < PeltonTest
  NOW = Time.utc(2026, 11, 28, 12)

  def test_name_and_value
    {"a=b" => "a=b", " a = b c ; Path=/" => "a=b c", "a=\"b\"" => "a=\"b\"", "a=" => "a=", "a=b=c" => "a=b=c",
     "a=\u00e9" => "a=\u00e9"}.each { |header, pair| assert_equal pair, parse(header).to_s, header }
    ["", "a", "=b", ";a=b", "a=b\0", "a=b\nc", "a=#{"b" * 4096}"].each do |header|
      assert_nil parse(header), header[0, 20].inspect
    end
  end

  def test_dates
    time = Time.utc(1994, 11, 6, 8, 49, 37)
    [
      "Sun, 06 Nov 1994 08:49:37 GMT",
      "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
      "8:49:37 6 november 1994x"
    ].each do |text|
      assert_equal time, Pelton::HTTP::ClientCookie.time(text), text
    end
    assert_equal 2069, Pelton::HTTP::ClientCookie.time("1 Jan 69 0:0:0").year
    ["", "6 Nov 1994", "32 Jan 2020 0:0:0", "31 Jun 2020 0:0:0", "1 Jan 1600 0:0:0",
      "1 Jan 2020 24:0:0", "1 Foo 2020 0:0:0"].each do |text|
      assert_nil Pelton::HTTP::ClientCookie.time(text), text
    end
  end

  def test_how_long_it_lasts
    assert_nil parse("a=b").expires
    assert_nil parse("a=b; Expires=never; Max-Age=x").expires
    assert_equal NOW + 60, parse("a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Max-Age=60").expires
    assert parse("a=b; expires=Sun, 06 Nov 1994 08:49:37 GMT").expired?(NOW), "its date has passed"
    assert parse("a=b; max-age=0").expired?(NOW), "an age of 0"
    assert parse("a=b; max-age=-99").expired?(NOW), "a negative age"
  end

  def test_which_domains_a_host_may_set_cookies_for
    {"shop.example" => true, "example" => false, ".shop.example" => true,
     "SHOP.example" => true, "www.shop.example" => true,
     "a.www.shop.example" => false, "other.example" => false,
     "op.example" => false, "" => true}.each do |domain, allowed|
      assert_equal allowed, !!parse("a=b; Domain=#{domain}"), domain
    end
    assert_nil parse("a=b; Domain=co.example", "http://shop.co.example/") { |domain| domain == "co.example" }
    assert parse("a=b; Domain=localhost", "http://localhost/"), "its own name"
    assert parse("a=b; Domain=127.0.0.1", "http://127.0.0.1/"), "its own address"
    assert_nil parse("a=b; Domain=0.0.1", "http://127.0.0.1/")
  end

  def test_which_hosts_get_it
    own, shared = parse("a=b"), parse("a=b; Domain=shop.example")

    assert_equal [true, false, false], hosts(own, "www.shop.example", "shop.example", "a.www.shop.example")
    assert_equal [true, true], hosts(parse("a=b; Domain=www.shop.example"), "www.shop.example", "a.www.shop.example")
    assert_equal [true, false], hosts(parse("a=b; Domain=localhost", "http://localhost/"), "localhost", "a.localhost")
    assert_equal [true, true, true, false, false],
      hosts(shared, "www.shop.example", "shop.example", "A.Shop.example", "workshop.example", "example")
  end

  def test_which_paths_get_it
    assert_equal "/a", parse("a=b", "http://shop.example/a/b").path
    assert_equal ["/", "/", "/"], ["/a", "", "/"].map { |path| parse("a=b", "http://shop.example#{path}").path }
    assert_equal "/x", parse("a=b; Path=/x", "http://shop.example/a/b").path
    assert_equal "/a", parse("a=b; Path=x", "http://shop.example/a/b").path
    cookie = parse("a=b; Path=/x", "http://shop.example/")

    assert_equal [true, true, true, false, false],
      %w[/x /x/ /x/y /xy /].map { |path| cookie.for?(URI("http://shop.example#{path}")) }
    assert parse("a=b; Path=/x/", "http://shop.example/").for?(URI("http://shop.example/x/y")),
      "a path that ends with a slash"
  end

  def test_secure_cookies_need_tls
    assert_nil parse("a=b; Secure")
    cookie = parse("a=b; Secure", "https://shop.example/")

    assert_equal [true, false], %w[https http].map { |scheme| cookie.for?(URI("#{scheme}://shop.example/")) }
    {"__Secure-a=b" => false, "__Secure-a=b; Secure" => true,
     "__Host-a=b; Secure" => false, "__Host-a=b; Secure; Path=/" => true,
     "__Host-a=b; Secure; Path=/; Domain=shop.example" => false}.each do |header, allowed|
      assert_equal allowed, !!parse(header, "https://shop.example/a/b"), header
    end
  end

  private

  def parse(header, url = "http://www.shop.example/", &suffix)
    Pelton::HTTP::ClientCookie.parse(URI(url), header, NOW, &suffix || ->(_) { false })
  end

  def hosts(cookie, *hosts) = hosts.map { |host| cookie.for?(URI("http://#{host}/")) }
end
