# frozen_string_literal: true

require "pelton/web"
require_relative "support/controllers"

class WebControllerTest < PeltonTest
  include WebControllers

  def test_what_an_action_has_in_hand
    assert_equal "GET/1 #{{"a" => "1"}.inspect} 200 false",
      answer("QUERY_STRING" => "a=1") {
        "#{request.request_method}#{request.path}1 #{params.to_h} #{response.status} #{performed?}"
      }.body
  end

  def test_whether_it_has_answered
    seen = []
    answer do
      seen << performed?
      redirect_to("/")
      seen << performed?
    end

    assert_equal [false, true], seen
  end

  def test_headers_are_those_of_the_answer
    assert_equal "b", answer { (headers["X-A"] = "b") && "" }["x-a"]
  end

  def test_addresses
    app = Class.new(Pelton::Web::Application) do
      routes { get("/posts/:id", as: :post) { "#{post_path(5)} #{post_url(5)}" } }
    end

    assert_equal "/app/posts/5 http://example.org/app/posts/5",
      request(app, "GET", "/posts/1", "SCRIPT_NAME" => "/app").body
  end

  def test_an_action_that_does_not_answer
    error = assert_raises(Pelton::Web::AnswerError) { answer { nil } }

    assert_match(/route_1 has not answered: call render/, error.message)
  end
end
