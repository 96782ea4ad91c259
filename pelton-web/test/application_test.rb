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
    Class.new(Pelton::Web::Application) { routes { get "/things/:id(.:format)", to: "web_application_test/web_things#show" } }
  end

  def test_missing_secrets_are_said_at_boot
    [[], ["s" * 64]].each { |secrets| Class.new(Pelton::Web::Application) { settings.secrets = secrets }.boot! }

    assert_equal 1, log.scan("SECRET_KEY_BASE").size
  end

  def test_an_action_answers_through_the_server
    with_server(Rack::Lint.new(application)) do |url|
      answer = Pelton::HTTP.get("#{url}/things/7.json?page=2")

      assert_equal [200, '{"id":7,"page":2}', "application/json"], [answer.status, answer.body, answer["content-type"]]
    end
  end

  def test_a_parameter_of_the_wrong_type_is_answered_as_a_problem
    answer = request(application, "GET", "/things/7?page=x", "HTTP_ACCEPT" => "application/json")

    assert_equal [422, "application/problem+json"], [answer.status, answer["content-type"]]
    assert_equal [{"name" => "page", "detail" => "must be a whole number"}], JSON.parse(answer.body)["errors"]
  end
end
