# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub"
require "pelton/pubsub/engine"
require_relative "../support/captured_log"

class PubSubEngineTest < PeltonTest
  include CapturedLog

  Cut = Class.new(StandardError)

  # Its connections are cut as often as it is told.
  class Engine < Pelton::PubSub::Engine
    attr_reader :attempts

    def initialize(cuts)
      super(Pelton::PubSub.new, "nobody", limit: 1000)
      @attempts = 0
      stay_connected("engine", "it is cut", [Cut]) do |good|
        @attempts += 1
        arrived if @attempts.odd?
        good.call if @attempts == 3
        raise Cut, "again" if @attempts <= cuts
        sleep
      end
    end
  end

  # It is said once, and once more after it was good.
  def test_it_comes_back
    Pelton.run do
      engine = Engine.new(4)
      engine.await_ready(timeout: 10)
      assert_equal 1, engine.attempts
      assert_equal 0, engine.returns
      eventually { engine.attempts == 5 }

      assert_equal 2, engine.returns
      assert_equal ["pelton: pubsub: it is cut: again\n"] * 2, log.lines
      engine.close
    end
  end
end
