# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require_relative "support/requests"

class WebCORSTest < PeltonTest
  include WebRequests

  MINE = "https://app.example"
  APP = ->(_env) { [200, {"vary" => "accept"}, ["x"]] }

  def answer(origin, verb: "GET", path: "/", env: {}, **options)
    request(Pelton::Web::CORS.new(APP, origins: [MINE], **options), verb, path, "HTTP_ORIGIN" => origin, **env)
  end

  def preflight(origin, verb: "PUT", headers: nil, **options)
    answer(origin, verb: "OPTIONS", env: {"HTTP_ACCESS_CONTROL_REQUEST_METHOD" => verb, "HTTP_ACCESS_CONTROL_REQUEST_HEADERS" => headers}, **options)
  end

  def allowed(answer) = answer.headers.select { |name,| name.start_with?("access-control") }

  def test_an_allowed_origin
    got = answer(MINE, credentials: true, expose: ["x-total"])

    assert_equal({"access-control-allow-origin" => MINE, "access-control-allow-credentials" => "true", "access-control-expose-headers" => "x-total"}, allowed(got))
    assert_equal [200, "accept, origin"], [got.status, got["vary"]]
  end

  def test_others_get_no_permission_and_caches_know_why
    [nil, "null", "http://app.example", "https://app.example:8443", "https://app.example.evil.example", "https://evilapp.example", "https://APP.example", "#{MINE}/", MINE + "\n"].each do |origin|
      got = answer(origin, credentials: true)

      assert_empty allowed(got), origin.inspect
      assert_equal [200, "accept, origin"], [got.status, got["vary"]]
    end
  end

  # What the preflight allows is not refused as forged.
  def test_a_named_origin_may_change_something
    app = Class.new(Pelton::Web::Application) do
      settings.cors = {origins: [MINE], path: "/api", headers: ["content-type"]}
      routes { %w[/api/x /other].each { |path| match(path, via: %i[post put]) { "changed" } } }
    end
    status = ->(verb, path, origin) { request(app, verb, path, "HTTP_ORIGIN" => origin, "HTTP_SEC_FETCH_SITE" => "cross-site", "CONTENT_TYPE" => "application/json", :input => "{}").status }

    assert_equal 200, status["POST", "/api/x", MINE]
    assert_equal [403, 403, 403], [status["PUT", "/api/x", MINE], status["POST", "/other", MINE], status["POST", "/api/x", "https://evil.example"]]
  end

  def test_that_all_may_read_lets_nobody_change_anything
    app = Class.new(Pelton::Web::Application) do
      settings.cors = {origins: ["*"]}
      routes { post("/") { "changed" } }
    end

    assert_equal 403, request(app, "POST", "/", "HTTP_ORIGIN" => MINE, "HTTP_SEC_FETCH_SITE" => "cross-site").status
  end

  def test_preflight
    app = Pelton::Web::CORS.new(APP, origins: [MINE], methods: %w[put], headers: %w[Content-Type x-a])
    got = request(app, "OPTIONS", "/", "HTTP_ORIGIN" => MINE, "HTTP_ACCESS_CONTROL_REQUEST_METHOD" => "PUT", "HTTP_ACCESS_CONTROL_REQUEST_HEADERS" => "Content-Type, x-a")

    assert_equal 204, got.status
    assert_equal({"access-control-allow-origin" => MINE, "access-control-max-age" => "600", "access-control-allow-methods" => "PUT",
                  "access-control-allow-headers" => "content-type, x-a"}, allowed(got))
  end

  def test_a_preflight_for_more_than_is_allowed
    [preflight("https://evil.example", methods: %w[PUT]), preflight(MINE, verb: "DELETE", methods: %w[PUT]), preflight(MINE, headers: "x-b", methods: %w[PUT])].each do |got|
      assert_equal 403, got.status
      assert_empty allowed(got)
      assert_match(/origin/, got["vary"])
    end
  end

  def test_options_without_a_preflight_s_headers_reach_the_application
    assert_equal 200, answer(MINE, verb: "OPTIONS").status
  end

  def test_all_origins
    app = Pelton::Web::CORS.new(APP, origins: ["*"])
    got = request(app, "GET", "/", "HTTP_ORIGIN" => "https://any.example")

    assert_equal [{"access-control-allow-origin" => "*"}, "accept"], [allowed(got), got["vary"]]
    assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::CORS.new(APP, origins: ["*"], credentials: true) }
  end

  def test_paths
    app = Pelton::Web::CORS.new(APP, origins: [MINE], path: "/api/")

    assert_equal [true, true, false, false], ["/api", "/api/x", "/apix", "/"].map { |path| allowed(request(app, "GET", path, "HTTP_ORIGIN" => MINE)).any? }
  end

  def test_origins_are_checked
    ["app.example", "https://app.example/", "https://*.app.example", "null", "https://app.example, https://b.example"].each do |origin|
      assert_raises(Pelton::Web::ConfigurationError, origin) { Pelton::Web::CORS.new(APP, origins: [origin]) }
    end
  end
end
