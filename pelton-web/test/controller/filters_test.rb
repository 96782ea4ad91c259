# frozen_string_literal: true

require "pelton/web"
require_relative "../support/controllers"

class WebControllerFiltersTest < PeltonTest
  include WebControllers

  class Base < Pelton::Web::Controller
    attr_reader :log

    def self.noting(*names) = names.each { |name| define_method(name) { (@log ||= []) << name } && private(name) }

    private

    def around
      (@log ||= []) << :in
      yield
      @log << :out
    end
  end

  def test_the_order
    controller = Class.new(Base) do
      noting :a, :b, :c, :d
      before_action :a
      around_action :around
      after_action :c, :d
      before_action(:b) { @log << :block }
      define_method(:show) { (@log << :show) && render(plain: "") }
      after_action { headers["x-log"] = @log.join(" ") }
    end

    assert_equal "a in b block show", log(controller, :show)
    assert_equal %i[a in b block show d c out], run_of(controller, :show).log
  end

  def test_only_except_and_conditions
    controller = Class.new(Base) do
      noting :a, :b, :c, :d, :e
      before_action :a, only: :one
      before_action :b, except: %i[one]
      before_action :c, if: :yes?
      before_action :d, unless: -> { yes? }
      around_action :around, if: -> { params[:around] }
      before_action :e, if: %i[yes? no?]
      define_method(:one) { render plain: @log.join(" ") }
      define_method(:two) { render plain: @log.join(" ") }
      define_method(:yes?) { true }
      define_method(:no?) { false }
      private :yes?, :no?
    end
    app = serving(controller)

    assert_equal ["a c", "b c", "b c in"], %w[/one /two /two?around=1].map { |path| request(app, "GET", path).body }
  end

  def test_a_halt_is_final
    controller = Class.new(Base) do
      noting :after
      before_action { head 401 }
      before_action { head 500 }
      around_action { |_controller, action| render(plain: "around") && action.call }
      after_action :after
      define_method(:show) { render plain: "shown" }
    end
    instance = run_of(controller, :show)

    assert_equal 401, instance.response.status
    assert_nil instance.log
  end

  def test_no_filter_overwrites_an_answer
    controller = Class.new(Base) do
      after_action { render plain: "other" }
      define_method(:show) { render plain: "shown" }
    end

    assert_raises(Pelton::Web::AnswerError) { request(serving(controller), "GET", "/show") }
  end

  def test_an_around_filter_answers_or_yields
    answering = Class.new(Base) { around_action { |_, _| head 403 } && define_method(:show) { render plain: "shown" } }
    neither = Class.new(Base) { around_action { |_, _| nil } && define_method(:show) { render plain: "shown" } }
    [answering, neither].each { |controller| controller.define_method(:show) { render plain: "shown" } }

    assert_equal 403, request(serving(answering), "GET", "/show").status
    assert_raises(Pelton::Web::AnswerError) { request(serving(neither), "GET", "/show") }
  end

  def test_a_subclass_inherits_and_skips
    parent = Class.new(Base) do
      noting :a, :b
      before_action :a, :b
      define_method(:one) { render plain: @log.inspect }
      define_method(:two) { render plain: @log.inspect }
    end
    child = Class.new(parent) do
      skip_before_action :a
      skip_before_action :b, only: :two
      before_action :a, only: :two
    end

    assert_equal ["[:b]", "[:a]", "[:a, :b]"], [[child, "/one"], [child, "/two"],
      [parent, "/two"]].map { |controller, path| request(serving(controller), "GET", path).body }
  end

  def test_a_filter_that_is_declared_again_moves_to_the_end
    controller = Class.new(Base) { noting(:a, :b) && before_action(:a, :b, :a) }
    controller.before_action(:a)

    assert_equal %i[b a], controller.filters.map(&:name).last(2)
  end

  def test_mistakes_show_at_boot
    controller = Class.new(Base) do
      before_action :a, only: :shwo
      define_method(:show) { head 200 }
    end

    assert_match(/names no action: shwo/,
      assert_raises(Pelton::Web::ConfigurationError) { serving(controller) }.message)
    assert_raises(Pelton::Web::ConfigurationError) { controller.skip_before_action :b }
    assert_raises(Pelton::Web::ConfigurationError) { controller.before_action }
  end

  private

  def log(controller, action) = request(serving(controller), "GET", "/#{action}")["x-log"]

  def run_of(controller, action)
    serving(controller)
    env = Rack::MockRequest.env_for("/")
    controller.new(env, {}, Pelton::Web::Settings.new).tap { |one| one.public_send(:"_run_#{action}") }
  end
end
