# frozen_string_literal: true

require "test_helper"
require "pelton"

# The subscription adapter without Action Cable, on threads that run no reactor.
class SubscriptionAdapterTest < PeltonTest
  PROGRAM = <<~RUBY
    require "pelton"
    module ActionCable
      module SubscriptionAdapter
        class Base
          def initialize(server) = nil
        end
      end
    end
    require "action_cable/subscription_adapter/pelton"
    server = Struct.new(:config).new(Struct.new(:cable).new({}))
    adapter = ActionCable::SubscriptionAdapter::Pelton.new(server)
    asked = Queue.new
    adapter.define_singleton_method(:topics) { asked << true && sleep }
    subscribing = Thread.new do
      adapter.subscribe("room", ->(message) {})
    rescue Pelton::ClosedError => error
      error.message
    end
    asked.pop
    adapter.shutdown
    print subscribing.value
  RUBY

  def test_who_subscribes_while_it_shuts_down_is_told_so
    assert_equal "Action Cable's adapter was shut down", ruby_output(PROGRAM)
  end
end
