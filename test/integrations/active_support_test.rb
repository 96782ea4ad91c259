# frozen_string_literal: true

require_relative "../test_helper"

# With a stand-in; the real one is in pelton-rails/test/downstream/rails_test.rb.
class IntegrationsActiveSupportTest < PeltonTest
  STAND_IN = <<~RUBY
    require "pelton"
    $stderr = $stdout

    module ActiveSupport
      module IsolatedExecutionState
        class << self
          attr_accessor :isolation_level
        end
        self.isolation_level = :thread
      end
    end
  RUBY

  def test_rails_keeps_by_fiber
    assert_match(/\Apelton: Rails keeps .* config.active_support.isolation_level = :fiber\n:fiber\n\z/,
      ruby_output(STAND_IN + <<~RUBY))
        module Rails
          class Application; end
        end
        2.times { Pelton::Integrations.load(:launcher) }
        p ActiveSupport::IsolatedExecutionState.isolation_level
      RUBY
  end

  def test_active_support_without_rails_keeps_by_fiber_without_a_word
    assert_equal ":fiber\n", ruby_output(STAND_IN + <<~RUBY)
      Pelton::Integrations.load(:launcher)
      p ActiveSupport::IsolatedExecutionState.isolation_level
    RUBY
  end
end
