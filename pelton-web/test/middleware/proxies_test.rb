# frozen_string_literal: true

require "pelton/web"
require_relative "../../../test/support/captured_log"
require_relative "../support/requests"

class WebProxiesTest < PeltonTest
  include CapturedLog
  include WebRequests

  FORWARDED = {"HTTP_X_FORWARDED_FOR" => "203.0.113.9", "HTTP_X_FORWARDED_PROTO" => "https",
               "HTTP_X_FORWARDED_HOST" => "shop.example"}.freeze
  TRUSTED = %w[127.0.0.1 10.0.0.0/8 fd00::/8 unix].freeze

  # @return [Array(String, String, String)] the client's address, the scheme and the host, as Rack sees them
  def seen(trusted, env)
    app = lambda do |got|
      seen = Rack::Request.new(got)
      [200, {}, [[seen.ip, seen.scheme, seen.host, got.keys.grep(/FORWARDED/).size].join(" ")]]
    end
    request(Pelton::Web::Proxies.new(app, trusted), "GET", "/", **env).body
  end

  def test_nobody_is_trusted_by_default
    assert_equal "127.0.0.1 http example.org 0", seen([], {"REMOTE_ADDR" => "127.0.0.1", **FORWARDED})
  end

  # Behind such a proxy sign-ins would work, with cookies that are not Secure.
  def test_a_proxy_with_tls_that_is_not_trusted_is_said_once
    app = Pelton::Web::Proxies.new(->(_env) { [200, {}, []] }, ["10.0.0.1"])
    request(app, "GET", "/", "REMOTE_ADDR" => "10.0.0.1", **FORWARDED)
    request(app, "GET", "/", "REMOTE_ADDR" => "10.0.0.2", "HTTP_X_FORWARDED_PROTO" => "http")

    assert_empty log
    2.times { request(app, "GET", "/", "REMOTE_ADDR" => "10.0.0.2", **FORWARDED) }

    assert_equal ["pelton: 10.0.0.2 sends X-Forwarded-Proto: https, and is not among settings.trusted_proxies"],
      log.lines.map { |line| line[/[^:]*: [^:]*: [^:]*/] }
  end

  def test_a_trusted_proxy_is_believed
    ["127.0.0.1", "10.1.2.3", "fd00::1", "::ffff:127.0.0.1", ""].each do |proxy|
      assert_equal "203.0.113.9 https shop.example 0", seen(TRUSTED, {"REMOTE_ADDR" => proxy, **FORWARDED}), proxy
    end
  end

  def test_others_are_not
    ["203.0.113.7", "11.0.0.1", "::1", "x"].each do |client|
      assert_equal "#{client} http example.org 0", seen(TRUSTED, {"REMOTE_ADDR" => client, **FORWARDED})
    end
  end

  def test_what_rack_and_others_believe_is_removed
    env = {"HTTP_FORWARDED" => "for=1.2.3.4;host=evil;proto=https", "HTTP_X_FORWARDED_SCHEME" => "https",
           "HTTP_X_FORWARDED_SSL" => "on", "HTTP_X_FORWARDED_PORT" => "1"}

    assert_equal "203.0.113.7 http example.org 0", seen(TRUSTED, {"REMOTE_ADDR" => "203.0.113.7", **env})
    assert_equal "127.0.0.1 http example.org 0", seen(TRUSTED, {"REMOTE_ADDR" => "127.0.0.1", **env})
  end

  # The client may have written what stands before the address that the outermost trusted proxy has added.
  def test_the_nearest_address_that_is_not_trusted_is_the_client
    {"1.1.1.1, 203.0.113.9, 10.0.0.1" => "203.0.113.9", "203.0.113.9:4711" => "203.0.113.9",
     "[2001:db8::1]:80" => "2001:db8::1", "10.0.0.3, 10.0.0.2" => "10.0.0.3",
     "x, 10.0.0.2" => "10.0.0.2", "x" => "127.0.0.1", "" => "127.0.0.1", "," => "127.0.0.1"}.each do |addresses, client|
      assert_equal client,
        seen(TRUSTED, {"REMOTE_ADDR" => "127.0.0.1", "HTTP_X_FORWARDED_FOR" => addresses}).split.first, addresses
    end
  end

  def test_a_scheme_is_http_or_https
    assert_equal "http",
      seen(TRUSTED, {"REMOTE_ADDR" => "127.0.0.1", "HTTP_X_FORWARDED_PROTO" => "https, http"}).split[1]
  end

  def test_many_addresses
    app = Pelton::Web::Proxies.new(->(env) { [200, {}, [env["REMOTE_ADDR"]]] }, ["10.0.0.0/8"])
    2500.times { |index| app.call({"REMOTE_ADDR" => "11.0.#{index / 250}.#{index % 250}"}) }

    assert_operator app.instance_variable_get(:@known).size, :<=, 1000
  end

  def test_an_address_is_checked
    assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::Proxies.new(nil, ["10.0.0.0/99"]) }
    assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::Proxies.new(nil, ["proxy.example"]) }
  end
end
