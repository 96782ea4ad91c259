# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

class HTTPSOnlyTest < PeltonTest
  APP = ->(_env) { [200, {"x-one" => "1"}, ["hello"]] }
  PLAIN = {"REQUEST_METHOD" => "GET", "rack.url_scheme" => "http", "HTTP_HOST" => "example.com", "SCRIPT_NAME" => "",
           "PATH_INFO" => "/a/b", "QUERY_STRING" => ""}.freeze
  TLS = {**PLAIN, "rack.url_scheme" => "https"}.freeze

  def respond(env, redirect: true, hsts: nil, port: 443)
    Pelton::HTTP::HTTPSOnly.new(APP, redirect: redirect, hsts: hsts, port: port).call(env)
  end

  def location(env, **options) = respond(PLAIN.merge(env), **options)[1]["location"]

  def test_a_request_without_tls_is_redirected
    status, headers, body = respond(PLAIN)

    assert_equal 301, status
    assert_equal "https://example.com/a/b", headers["location"]
    assert_empty body
  end

  def test_the_query_stays
    assert_equal "https://example.com/a/b?c=d%20e", location({"QUERY_STRING" => "c=d%20e"})
  end

  # A browser would repeat a POST as a GET after 301.
  def test_other_methods_keep_their_body
    assert_equal 308, respond(PLAIN.merge("REQUEST_METHOD" => "POST"))[0]
  end

  # Without a port in the request, both ports are the usual ones outside, whatever they are here.
  def test_the_port
    assert_equal "https://example.com/a/b", location({}, port: 8443)
    assert_equal "https://localhost:8443/a/b", location({"HTTP_HOST" => "localhost:8080"}, port: 8443)
    assert_equal "https://[::1]/a/b", location({"HTTP_HOST" => "[::1]:80"})
  end

  def test_no_host
    ["", nil, "a:b:c"].each { |host| assert_equal 400, respond(PLAIN.merge("HTTP_HOST" => host))[0], host.inspect }
  end

  def test_with_tls
    assert_equal APP.call(nil), respond(TLS)
  end

  def test_a_proxy_that_has_tls
    assert_equal 200, respond(PLAIN.merge("HTTP_X_FORWARDED_PROTO" => "https"))[0]
  end

  def test_browsers_are_told_where_there_is_tls
    assert_equal "max-age=3600", respond(TLS, hsts: 3600.0)[1]["strict-transport-security"]
    assert_nil respond(PLAIN, redirect: false, hsts: 3600)[1]["strict-transport-security"]
  end

  def test_the_application_may_say_it_itself
    app = ->(_env) { [200, {"strict-transport-security" => "max-age=0"}, []] }

    assert_equal "max-age=0",
      Pelton::HTTP::HTTPSOnly.new(app, redirect: false, hsts: 60).call(TLS)[1]["strict-transport-security"]
  end
end
