# frozen_string_literal: true

require_relative "../test_helper"

# With a stand-in; the real one is in pelton-rails/test/downstream/rails_test.rb.
class IntegrationsI18nTest < PeltonTest
  STAND_IN = <<~RUBY
    require "pelton"

    module I18n
      class Config
        attr_accessor :locale
      end

      def self.config
        Thread.current.thread_variable_get(:config) || Thread.current.thread_variable_set(:config, Config.new)
      end
    end
  RUBY

  def test_each_fiber_has_a_locale_of_its_own
    output = ruby_output(STAND_IN + <<~RUBY)
      Pelton::Integrations.load(:launcher)
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
    output = ruby_output(STAND_IN + <<~RUBY)
      I18n::Config.define_method(:owned_by?) { |fiber| true }
      def Fiber.[](key) = nil
      Pelton::Integrations.load(:launcher)
      p I18n.singleton_class.ancestors.include?(Pelton::Integrations::I18n)
    RUBY

    assert_equal "false\n", output.lines.last
  end
end
