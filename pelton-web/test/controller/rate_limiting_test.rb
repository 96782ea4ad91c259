# frozen_string_literal: true

require "pelton/web"
require_relative "../support/requests"

class WebControllerRateLimitingTest < PeltonTest
  include WebRequests

  class WebDoorController < Pelton::Web::Controller
    rate_limit to: 3, within: 60, only: :enter
    rate_limit to: 1, within: 600, only: :enter,
      by: -> { params[:account] }, with: -> { render plain: "later", status: 429 }
    rate_limit to: 1, within: 60, only: :wait, by: :nobody_or_somebody

    def enter = render(plain: "in")

    def wait = render(plain: "waited")

    private

    def nobody_or_somebody = params[:who]
  end

  def setup
    Pelton::SharedCounters.default.clear
    @application = Class.new(Pelton::Web::Application) do
      routes { %w[enter wait].each { |name| get "/#{name}", to: "web_controller_rate_limiting_test/web_door##{name}" } }
    end
  end

  def ask(path, address = "203.0.113.1") = request(@application, "GET", path, "REMOTE_ADDR" => address)

  def test_each_client_has_its_count
    answers = Array.new(4) { ask("/enter") }

    assert_equal [200, 200, 200, 429], answers.map(&:status)
    assert_equal "60", answers.last["retry-after"]
    assert_equal 200, ask("/enter", "203.0.113.2").status
    assert_equal 200, ask("/wait").status, "another action"
  end

  def test_the_second_limit_counts_something_else_and_answers_itself
    statuses = %w[1 2 3].map { |number| ask("/enter?account=a", "203.0.113.#{number}").body }

    assert_equal %w[in later later], statuses
    assert_equal "in", ask("/enter?account=b").body
    assert_equal "in", ask("/enter").body, "nil is not counted"
  end

  def test_a_method_says_what_counts
    assert_equal [200, 429, 200, 200, 200],
      ["/wait?who=a", "/wait?who=a", "/wait?who=b", "/wait", "/wait"].map { |path| ask(path).status }
  end

  # As workers that load the same program count: by the classes' names, which not all have.
  def test_classes_count_separately
    settings = Pelton::Web::Settings.new
    classes = Array.new(2) do
      Class.new(Pelton::Web::Controller) do
        rate_limit to: 1, within: 60
        def show = render(plain: "shown")
      end
    end
    statuses = classes.map do |controller|
      endpoint = controller.endpoint(:show, settings, nil)
      Array.new(2) do
        endpoint.call({
          "REQUEST_METHOD" => "GET",
          "PATH_INFO" => "/",
          "REMOTE_ADDR" => "203.0.113.1",
          "rack.input" => StringIO.new
        }, []).first
      end
    end

    assert_equal [[200, 429]] * 2, statuses
  end

  def test_memcached_may_count
    counted = []
    @application.settings.rate_limit_store =
      Class.new { define_method(:incr) { |key, *, **options| counted << [key, options[:ttl]] && 1 } }.new
    5.times { ask("/enter") }

    assert_equal [60] * 5, counted.map(&:last)
  end

  def test_options
    [{to: 0, within: 1}, {to: 1, within: 0.5}, {to: 1, within: 1, failure: :other}].each do |options|
      assert_raises(Pelton::Web::ConfigurationError) { Class.new(Pelton::Web::Controller) { rate_limit(**options) } }
    end
  end
end
