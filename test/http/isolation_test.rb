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
      2.times { Pelton::HTTP::Isolation.by_fiber }
      p ActiveSupport::IsolatedExecutionState.isolation_level
    RUBY

    assert_match(/\Apelton: Rails keeps .* config.active_support.isolation_level = :fiber\n:fiber\n\z/, output)
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
