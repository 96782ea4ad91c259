# frozen_string_literal: true

require "logger"
require "test_helper"
require "pelton/web"
require_relative "support/requests"

class WebApplicationTest < PeltonTest
  include WebRequests

  class WebThingsController < Pelton::Web::Controller
    before_action(only: :secret) { head 403 }
    rescue_from(KeyError) { |error| render text: "no #{error.key}", status: 404 }

    def show = render(json: {id: params.integer(:id)})

    def secret = render(text: "secret")

    def count = render(plain: params.integer(:count))

    def missing = {}.fetch("key")

    def move = redirect_to("/things/1")
  end

  def application
    Class.new(Pelton::Web::Application) do
      routes do
        root { "root" }
        get("/hello") { "hello" }
        post("/echo") { render text: params[:word] }
        get "/things/:id(.:format)", to: "web_application_test/web_things#show", constraints: {id: /[^.]+/}
        get "/secret", to: "web_application_test/web_things#secret"
        get "/count", to: "web_application_test/web_things#count"
        get "/missing", to: "web_application_test/web_things#missing"
        get "/move", to: "web_application_test/web_things#move"
      end
    end
  end

  def test_missing_secrets_are_said_at_boot
    logger, Pelton.logger = Pelton.logger, Logger.new(log = StringIO.new)
    [[], ["s" * 64]].each { |secrets| Class.new(Pelton::Web::Application) { settings.secrets = secrets }.boot! }

    assert_equal 1, log.string.scan("SECRET_KEY_BASE").size
  ensure
    Pelton.logger = logger
  end

  def test_a_block_s_string_is_the_answer
    answer = request(application, "GET", "/hello")

    assert_equal [200, "hello", "text/plain; charset=utf-8"], [answer.status, answer.body, answer["content-type"]]
  end

  def test_an_action_answers
    answer = request(application, "GET", "/things/7.json")

    assert_equal [200, '{"id":7}', "application/json"], [answer.status, answer.body, answer["content-type"]]
  end

  def test_a_parameter_of_the_wrong_type_is_answered_as_a_problem
    answer = request(application, "GET", "/count?count=x", "HTTP_ACCEPT" => "application/json")

    assert_equal [422, "application/problem+json"], [answer.status, answer["content-type"]]
    assert_equal [{"name" => "count", "detail" => "must be a whole number"}], JSON.parse(answer.body)["errors"]
  end

  def test_a_variable_of_the_path_of_the_wrong_type_is_not_found
    assert_equal 404, request(application, "GET", "/things/seven").status
  end

  def test_a_filter_that_answers_ends_the_action
    assert_equal [403, ""], request(application, "GET", "/secret").then { |answer| [answer.status, answer.body] }
  end

  def test_rescue_from
    assert_equal [404, "no key"], request(application, "GET", "/missing").then { |answer| [answer.status, answer.body] }
  end

  def test_redirect_to
    assert_equal [302, "/things/1"], request(application, "GET", "/move").then { |answer| [answer.status, answer["location"]] }
  end

  def test_a_form
    assert_equal "hi", request(application, "POST", "/echo", :input => "word=hi", "CONTENT_TYPE" => "application/x-www-form-urlencoded").body
  end

  def test_what_is_not_there
    assert_equal 404, request(application, "GET", "/nothing").status
    assert_equal [405, "GET, HEAD, OPTIONS"], request(application, "DELETE", "/hello").then { |answer| [answer.status, answer["allow"]] }
  end

  def test_an_unknown_setting_is_an_error
    error = assert_raises(Pelton::Web::ConfigurationError) { Class.new(Pelton::Web::Application) { settings.rot = "/" } }

    assert_match(/no setting rot/, error.message)
  end

  def test_it_is_served
    app = Rack::Lint.new(application)
    Pelton.run do
      server = Pelton::HTTP::Server.new(app)
      port = server.listen("tcp://127.0.0.1:0").port

      assert_equal "hello", Pelton::HTTP.get("http://127.0.0.1:#{port}/hello").body
      server.stop
    end
  end
end
