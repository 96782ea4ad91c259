# frozen_string_literal: true

require_relative "../test_helper"

# With stand-ins for what Rails and I18n have: the real ones are in test/downstream/rails_test.rb.
class HTTPIsolationTest < PeltonTest
  STAND_INS = <<~RUBY
    require "pelton/http"
    require "pelton/http/isolation"
    $stderr = $stdout

    module ActiveSupport
      module IsolatedExecutionState
        class << self
          attr_accessor :isolation_level
        end
        self.isolation_level = :thread
      end
    end

    module I18n
      class Config
        attr_accessor :locale
      end

      def self.config = Thread.current.thread_variable_get(:config) || Thread.current.thread_variable_set(:config, Config.new)
    end
  RUBY

  def test_rails_keeps_by_fiber
    output = ruby_output(STAND_INS + <<~RUBY)
      module Rails
        class Application; end
      end
      2.times { Pelton::HTTP::Isolation.by_fiber }
      p ActiveSupport::IsolatedExecutionState.isolation_level
    RUBY

    assert_match(/\Apelton: Rails keeps .* config.active_support.isolation_level = :fiber\n:fiber\n\z/, output)
  end

  def test_active_support_without_rails_keeps_by_fiber_without_a_word
    output = ruby_output(STAND_INS + <<~RUBY)
      Pelton::HTTP::Isolation.by_fiber
      p ActiveSupport::IsolatedExecutionState.isolation_level
    RUBY

    assert_equal ":fiber\n", output
  end

  # The real one is in pelton-rails/test/downstream/sentry_test.rb.
  def test_each_fiber_has_a_hub_of_sentry_of_its_own
    sentry = <<~RUBY
      module Sentry
        Hub = Struct.new(:user)
        Settings = Struct.new(:hub_isolation_level)
        class << self
          def init(level) = (@level = level) && @main = Hub.new("main")
          def initialized? = !!@main
          def configuration = Settings.new(@level)
          def get_main_hub = @main
          def get_current_hub = Thread.current.thread_variable_get(:hub) || clone_hub_to_current_thread
          def clone_hub_to_current_thread = initialized? && Thread.current.thread_variable_set(:hub, @main.clone)
        end
      end
      LEVEL = ARGV.first&.to_sym
      Sentry.init(LEVEL) if LEVEL
      Pelton::HTTP::Isolation.by_fiber
      p Sentry.get_current_hub
      Sentry.init(LEVEL || :thread)
      Pelton.run do
        Pelton.map(%w[Ada Bob]) do |user|
          Sentry.clone_hub_to_current_thread.user = user
          sleep 0.001
          p [user, Sentry.get_current_hub.user]
        end
        p Sentry.get_current_hub.user
      end
    RUBY
    own = %(["Ada", "Ada"]\n["Bob", "Bob"]\n"main"\n)

    assert_equal "nil\n#{own}", ruby_output(STAND_INS + sentry)
    assert_equal "#<struct Sentry::Hub user=\"main\">\n#{own}", ruby_output(STAND_INS + sentry, "thread")
    refute_includes ruby_output(STAND_INS + sentry, "fiber"), own # the setting is Sentry's, here a stand-in's, which does nothing
  end

  def test_each_fiber_has_a_locale_of_its_own
    output = ruby_output(STAND_INS + <<~RUBY)
      Pelton::HTTP::Isolation.by_fiber
      Pelton.run do
        Pelton.map(%w[en de fr]) do |locale|
          I18n.config.locale = locale
          sleep 0.001
          I18n.config = I18n.config
          p [locale, I18n.config.locale]
        end
      end
    RUBY

    assert_equal [%w[de de], %w[en en], %w[fr fr]], output.lines.grep(/\A\[/).map { |line| line.scan(/\w+/) }.sort
  end

  def test_a_locale_that_is_kept_by_fiber_is_left_alone
    output = ruby_output(STAND_INS + <<~RUBY)
      I18n::Config.define_method(:owned_by?) { |fiber| true }
      def Fiber.[](key) = nil
      Pelton::HTTP::Isolation.by_fiber
      p I18n.singleton_class.ancestors.include?(Pelton::HTTP::Isolation::Locale)
    RUBY

    assert_equal "false\n", output.lines.last
  end

  def test_without_either_nothing_happens
    assert_equal "", ruby_output('require "pelton/http"; require "pelton/http/isolation"; Pelton::HTTP::Isolation.by_fiber')
  end
end
