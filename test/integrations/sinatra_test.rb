# frozen_string_literal: true

require_relative "../test_helper"

# With a stand-in for what Sinatra has: the real one is in test/integration/sinatra_test.rb.
class HTTPSinatraTest < PeltonTest
  STAND_IN = <<~RUBY
    module Sinatra
      module Helpers
        class Stream
        end

        def self.scheduler = EventMachine
      end
    end
    Pelton::HTTP::Server.new(->(env) {})
  RUBY

  def test_what_stream_asks_eventmachine_for
    assert_equal "first tick deferred scheduled truenil\n", ruby_output("require 'pelton/http'\n" + STAND_IN + <<~RUBY)
      scheduler = Sinatra::Helpers.scheduler
      Pelton.run do
        scheduler.next_tick { print "tick " }
        print "first "
        sleep 0.001
        scheduler.defer { print "deferred " }
        scheduler.schedule { print "scheduled " }
        Thread.new { scheduler.schedule { print Pelton.running? } }.join
        sleep 0.001
      end
      p defined?(::EventMachine)
    RUBY
  end

  def test_an_eventmachine_that_is_loaded_is_left_its_place
    assert_equal "EventMachine\n",
      ruby_output("require 'pelton/http'\nrequire 'pelton/eventmachine'\n" + STAND_IN + "p Sinatra::Helpers.scheduler")
  end
end
