# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"
require_relative "../support/captured_log"

# The reports about fibers that wait.
class WaitingTest < PeltonTest
  include CapturedLog

  def test_places_of_tasks_and_of_other_fibers
    places = Pelton.run do
      Pelton.spawn(name: "worker") { sleep }
      Fiber.schedule { Queue.new.pop }
      sleep 0.001
      Pelton.stop(Pelton.const_get(:Waiting).places(Pelton::Reactor.current))
    end

    assert_equal 2, places.size
    assert_match(/\A#<Pelton::Task "worker" waiting from #{__FILE__}:13 at #{__FILE__}:13:in .*sleep'>\z/, places.min)
    assert_match(/\Aa fiber at #{__FILE__}:14:in .*pop'\z/, places.max)
  end

  def test_equal_places_are_counted_and_a_report_is_short
    Pelton.const_get(:Waiting).report_given_up(%w[a a b] + ("c".."z").to_a)

    assert_match(/27 fiber\(s\)/, log)
    assert_includes log, "\n    a (2 times)\n    b\n    c\n"
    assert_match(/\n    and 16 more$/, log)
  end

  # The logger ends the wait.
  SILENCE = <<~RUBY
    require "pelton"
    logger = Object.new
    def logger.warn(text) = puts(text) || Pelton.stop
    def logger.error(text) = puts(text)
    Pelton.logger = logger
    Pelton.run do
      Pelton.spawn(name: "on purpose") { sleep }
      Pelton.spawn(name: "condition") do
        Mutex.new.then { |mutex| mutex.synchronize { ConditionVariable.new.wait(mutex) } }
      end
      Queue.new.pop
    end
  RUBY

  def test_waits_that_nothing_ends_are_reported
    report = ruby_output(SILENCE)

    assert_match(/nothing but a signal's handler can wake these fibers/, report)
    assert_match(/-e:11:in .*pop'/, report)
    assert_match(/"condition" waiting/, report)
    refute_match(/on purpose/, report)
  end

  def test_a_thread_that_works_may_end_a_wait
    worker = Thread.new { Thread.pass until Thread.current[:over] }

    refute Pelton.const_get(:Waiting).report_silence(Pelton::Reactor.current)
    assert_empty log
  ensure
    worker[:over] = true
    worker.join
  end
end
