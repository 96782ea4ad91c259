# frozen_string_literal: true

require "pelton/web"
require_relative "../support/controllers"

class WebDeferralTest < PeltonTest
  include WebControllers

  HEADERS = %w[x-request-id x-content-type-options content-security-policy].freeze

  # Ways in which an application answers later, or at once by the callback.
  WAYS = {
    "later" => lambda do |env, response|
      Pelton.add_timer(0.01) { env["async.callback"].call(response) }
      [-1, {}, []]
    end,
    "thrown" => lambda do |env, response|
      Pelton.add_timer(0.01) { env["async.callback"].call(response) }
      throw :async
    end,
    "before" => lambda do |env, response|
      env["async.callback"].call(response)
      [-1, {}, []]
    end,
    "before it throws" => lambda do |env, response|
      env["async.callback"].call(response)
      throw :async
    end,
    "at once" => ->(_env, response) { response }
  }.freeze

  WAYS.each do |way, answer|
    define_method(:"test_a_mounted_application_that_answers_#{way.tr(" ", "_")}") do
      with_server(application do
        mount(->(env) { answer.call(env, [201, {"content-type" => "text/html"}, [env["PATH_INFO"]]]) }, at: "/a")
      end) do |url|
        response = Pelton::HTTP.get("#{url}/a/b", headers: {"X-Request-Id" => "me"})

        assert_equal 201, response.status
        assert_equal "/b", response.body
        assert_equal ["me", "nosniff"], response.headers.values_at("x-request-id", "x-content-type-options")
        assert_includes response["content-security-policy"], "default-src 'self'"
      end
    end
  end

  def test_a_route_to_an_application_middleware_and_an_application_in_another
    later = WAYS.fetch("later")
    inner = application do
      mount(->(env) { later.call(env, [200, {"content-type" => "text/html"}, ["inner"]]) }, at: "/")
    end
    app = application do
      get "/routed", to: ->(env) { later.call(env, [200, {"content-type" => "text/html"}, ["routed"]]) }
      mount inner, at: "/inner"
    end
    app.use(Class.new do
      define_method(:initialize) { |below| @below = below }
      define_method(:call) do |env|
        if env["PATH_INFO"] == "/used"
          later.call(env, [200, {"content-type" => "text/html"}, ["used"]])
        else
          @below.call(env)
        end
      end
    end)

    with_server(app) do |url|
      %w[routed inner used].each do |path|
        response = Pelton::HTTP.get("#{url}/#{path}")

        assert_equal path, response.body
        assert_empty HEADERS.reject { |name| response.headers.key?(name) }, path
      end
    end
  end

  class DeferringController < Pelton::Web::Controller
    def show
      defer_response(200, {"Content-Type" => "text/html"}) do |response|
        Pelton.add_timer(0.01) { response.send_data("deferred") && response.succeed }
      end
    end
  end

  def test_a_controller_s_deferred_response
    with_server(application { get "/", to: "web_deferral_test/deferring#show" }) do |url|
      response = Pelton::HTTP.get(url)

      assert_equal "deferred", response.body
      assert_empty HEADERS.reject { |name| response.headers.key?(name) }
    end
  end

  def test_what_else_the_callback_does_is_the_server_s
    calls = []
    env = {"async.callback" => ->(*arguments) { calls << arguments }}
    Pelton::Web::Deferral.new(->(inner) {
      inner["async.callback"].call &&
          inner["async.callback"].call({"link" => "</a.css>"}) && [200, {}, []]
    }).call(env)

    assert_equal [[], [{"link" => "</a.css>"}]], calls
  end

  def test_a_server_that_takes_no_responses_later
    assert_equal [200, {}, ["a"]], Pelton::Web::Deferral.new(->(_env) { [200, {}, ["a"]] }).call({})
    assert_equal [-1, {}, []], Pelton::Web::RequestId.new(->(_env) { [-1, {}, []] }).call({})
  end

  def test_only_applications_with_foreign_parts_have_it
    plain = application do
      get("/") { "a" }
      redirect "/b", to: "/"
    end

    plain.boot!
    assert_nil compiled(plain, Pelton::Web::Deferral)
    assert compiled(application { mount(->(_) {}, at: "/") }.tap(&:boot!), Pelton::Web::Deferral)
  end

  private

  def application(&routes)
    Class.new(Pelton::Web::Application) do
      self.routes(&routes)
    end
  end

  # The layer of a class among those of a booted application.
  def compiled(application, layer)
    app = application.boot!
    app = app.instance_variable_get(:@app) until app.nil? || app.is_a?(layer)
    app
  end
end
