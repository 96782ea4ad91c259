# frozen_string_literal: true

require "pelton/web"
require_relative "../support/controllers"

class WebControllerRescuesTest < PeltonTest
  include WebControllers

  Special = Class.new(KeyError)

  def parent
    Class.new(Pelton::Web::Controller) do
      rescue_from(KeyError, IndexError) { |error| render plain: "key #{error.message}", status: 404 }
      rescue_from(ZeroDivisionError, with: :zero)
      define_method(:key) { raise KeyError, "k" }
      define_method(:special) { raise Special, "s" }
      define_method(:zero_division) { 1 / 0 }
      define_method(:other) { raise "other" }
      define_method(:late) { render(plain: "begun", status: 201) && head(500) || {}.fetch(:x) }
      define_method(:missing) { raise Pelton::Web::NotFound }
      define_method(:zero) { render plain: "zero" }
      private :zero
    end
  end

  # The program's author reads the message, the client does not.
  def test_errors_that_have_a_status_are_answered
    error = Class.new(StandardError) { define_method(:web_status) { 404 } }
    app = answering(errors: {ZeroDivisionError => 409}) do
      params.key?(:zero) ? 1 / 0 : raise(error, "token = 'secret'")
    end

    assert_equal [[404, "Not Found\n"], [409, "Conflict\n"]], ["/", "/?zero"].map { |path| get(app, path) }
  end

  def test_a_handler_goes_before_the_status_of_an_error
    error = Class.new(StandardError) { define_method(:web_status) { 404 } }
    controller = Class.new(Pelton::Web::Controller) do
      rescue_from(error) { head 410 }
      define_method(:lost) { raise error }
    end

    assert_equal 410, get(serving(controller), "/lost").first
  end

  def test_handlers
    app = serving(parent)

    assert_equal [404, "key k"], get(app, "/key")
    assert_equal [200, "zero"], get(app, "/zero_division")
    assert_raises(RuntimeError) { get(app, "/other") }
  end

  def test_the_last_declared_goes_first
    child = Class.new(parent) { rescue_from(Special) { head 410 } }

    assert_equal [[410, ""], [404, "key k"]], %w[/special /key].map { |path| get(serving(child), path) }
  end

  def test_what_was_answered_before_is_dropped
    controller = Class.new(Pelton::Web::Controller) do
      rescue_from(KeyError) { render plain: "rescued" }
      define_method(:show) do
        render plain: "begun", status: 201
        headers["x-begun"] = "1"
        raise KeyError
      end
    end
    answer = request(serving(controller), "GET", "/show")

    assert_equal 200, answer.status
    assert_equal "rescued", answer.body
    assert_nil answer["x-begun"]
  end

  def test_errors_of_requests_answer_by_themselves
    assert_equal 404, get(serving(parent), "/missing").first
    child = Class.new(parent) do
      rescue_from(Pelton::Web::RequestError) { |error| render plain: "own #{error.status}", status: error.status }
    end

    assert_equal [404, "own 404"], get(serving(child), "/missing")
  end

  def test_errors_of_filters
    child = Class.new(parent) { before_action { raise KeyError, "filter" } }

    assert_equal [404, "key filter"], get(serving(child), "/other")
  end

  def test_a_handler_that_does_not_answer_leaves_the_error
    child = Class.new(parent) { rescue_from(KeyError) {} }

    assert_raises(KeyError) { get(serving(child), "/key") }
  end

  def test_mistakes
    [[], [Exception], ["KeyError"]].each do |errors|
      assert_raises(Pelton::Web::ConfigurationError) { Class.new(parent) { rescue_from(*errors) { nil } } }
    end
    assert_raises(Pelton::Web::ConfigurationError) { Class.new(parent) { rescue_from(KeyError) } }
  end

  private

  def get(app, path) = request(app, "GET", path).then { |answer| [answer.status, answer.body] }
end
