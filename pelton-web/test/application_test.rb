# frozen_string_literal: true

require_relative "../../test/support/captured_log"
require_relative "support/requests"

class WebApplicationTest < PeltonTest
  include CapturedLog
  include WebRequests

  class WebThingsController < Pelton::Web::Controller
    def show = render(json: {id: params.integer(:id), page: params.integer(:page)})
  end

  def application
    Class.new(Pelton::Web::Application) do
      routes { get "/things/:id(.:format)", to: "web_application_test/web_things#show" }
    end
  end

  def with_secret(text)
    before, ENV["SECRET_KEY_BASE"] = ENV["SECRET_KEY_BASE"], text
    yield
  ensure
    ENV["SECRET_KEY_BASE"] = before
  end

  # Otherwise the first page with a session would say it, and health checks would not.
  def test_no_start_in_production_without_a_secret
    production = -> { Class.new(Pelton::Web::Application) { settings.environment = "production" } }
    {nil => "SECRET_KEY_BASE is not set", "" => "SECRET_KEY_BASE is not set",
     "short" => "SECRET_KEY_BASE has 5 bytes"}.each do |secret, complaint|
      with_secret(secret) do
        assert_includes assert_raises(Pelton::Web::ConfigurationError) { production.call.boot! }.message, complaint
      end
    end
    with_secret("s" * 32) { assert production.call.boot! }
  end

  def test_what_needs_no_secret_starts_without
    with_secret(nil) do
      assert Class.new(Pelton::Web::Application) { settings.environment = "development" }.boot!
      assert Class.new(Pelton::Web::Application) { settings.environment, settings.secrets = "production", [] }.boot!
      assert Class.new(Pelton::Web::Application) { settings.environment, settings.secrets = "production", ["s" * 32] }
        .boot!
    end
  end

  def test_an_action_answers_through_the_server
    with_server(Rack::Lint.new(application)) do |url|
      answer = Pelton::HTTP.get("#{url}/things/7.json?page=2")

      assert_equal 200, answer.status
      assert_equal '{"id":7,"page":2}', answer.body
      assert_equal "application/json", answer["content-type"]
    end
  end

  def test_a_parameter_of_the_wrong_type_is_answered_as_a_problem
    answer = request(application, "GET", "/things/7?page=x", "HTTP_ACCEPT" => "application/json")

    assert_equal 422, answer.status
    assert_equal "application/problem+json", answer["content-type"]
    assert_equal [{"name" => "page", "detail" => "must be a whole number"}], JSON.parse(answer.body)["errors"]
  end
end
