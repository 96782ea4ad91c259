# frozen_string_literal: true

require_relative "test_helper"
require "pelton"
require "stringio"

# The reports about fibers that wait.
class WaitingTest < PeltonTest
  def setup
    Pelton.logger = @log = StringIO.new
  end

  def teardown
    Pelton.logger = $stderr
  end

  def test_places_of_tasks_and_of_other_fibers
    places = Pelton.run do
      Pelton.spawn(name: "worker") { sleep }
      Fiber.schedule { Queue.new.pop }
      sleep 0.001
      Pelton.stop(Pelton::Waiting.places(Pelton::Reactor.current))
    end

    assert_equal 2, places.size
    assert_match(/\A#<Pelton::Task "worker" waiting from #{__FILE__}:19 at #{__FILE__}:19:in .*sleep'>\z/, places.min)
    assert_match(/\Aa fiber at #{__FILE__}:20:in .*pop'\z/, places.max)
  end

  def test_equal_places_are_counted_and_a_report_is_short
    Pelton::Waiting.report_given_up(%w[a a b] + ("c".."z").to_a)

    assert_match(/27 fiber\(s\)/, @log.string)
    assert_includes @log.string, "\n    a (2 times)\n    b\n    c\n"
    assert_match(/\n    and 16 more$/, @log.string)
  end
end
