# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require_relative "support/routing"

class WebRoutesTest < PeltonTest
  include WebRouting

  def test_a_scope
    app = router do
      scope("/shops/:shop", constraints: {shop: /\d+/}) { get "/log", to: "log#index" }
      scope(constraints: ->(request) { request.host == "api.example" }) { get "/", to: "api#index" }
      get "/", to: "home#index"
    end

    assert_equal 'GET /shops/:shop/log {"shop"=>"5"}', get(app, "/shops/5/log")
    assert_equal 404, request(app, "GET", "/shops/x/log").status
    assert_equal "GET / {}", get(app, "/", "HTTP_HOST" => "api.example")
  end

  def test_a_guard_decides_between_routes_of_the_same_path
    app = application do
      get("/", constraints: ->(request) { request.host == "api.example" }) { "api" }
      get("/") { "home" }
    end

    assert_equal %w[api home], %w[api.example www.example].map { |host| get(app, "/", "HTTP_HOST" => host) }
  end

  def test_several_verbs
    app = router { match "/both", via: %i[get post], to: "both#both" }

    assert_equal ["GET /both {}", "POST /both {}", ""],
      %w[GET POST OPTIONS].map { |verb| request(app, verb, "/both").body }
  end

  def test_a_rack_application_as_a_target
    app = application { get "/x", to: ->(_env) { [200, {"content-type" => "text/plain"}, ["rack"]] } }

    assert_equal "rack", get(app, "/x")
  end

  def test_redirect
    app = application { redirect "/old/:id", to: "/new/:id", status: 302 }

    answer = request(app, "GET", "/old/5")
    assert_equal 302, answer.status
    assert_equal "/new/5", answer["location"]
    assert_equal 405, request(app, "POST", "/old/5").status
  end

  def test_mistakes
    routes = Pelton::Web::Routes.new
    routes.get("/a", to: "a#b", as: :a)

    assert_raises(Pelton::Web::ConfigurationError) { routes.get("/b", to: "a#b", as: :a) }
    assert_raises(Pelton::Web::ConfigurationError) { routes.get("/b") }
    assert_raises(Pelton::Web::ConfigurationError) { routes.mount(nil, at: "/") }
  end
end
