# frozen_string_literal: true

require_relative "../test_helper"

# With a stand-in; the real one is in pelton-rails/test/downstream/sentry_test.rb.
class IntegrationsSentryTest < PeltonTest
  def test_each_fiber_has_a_hub_of_sentry_of_its_own
    sentry = <<~RUBY
      require "pelton"
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
      Pelton::Integrations.load(:launcher)
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

    assert_equal "nil\n#{own}", ruby_output(sentry)
    assert_equal "#<struct Sentry::Hub user=\"main\">\n#{own}", ruby_output(sentry, "thread")
    refute_includes ruby_output(sentry, "fiber"), own # the setting is Sentry's, here a stand-in's, which does nothing
  end
end
