# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

# The order in which a tick runs jobs: first the timers that are due, then the ready jobs, including those that these
# timers have made. Jobs that a job makes run in the next tick, after the timers that are due by then.
class TickOrderTest < PeltonTest
  def test_a_tick_queued_in_a_tick_comes_after_the_timers_that_are_due
    assert_order [1, 2, :timer, 3] do
      Pelton.next_tick do
        log(1)
        Pelton.next_tick { log(3) }
        Pelton.add_timer(0) { log(:timer) }
      end
      Pelton.next_tick { log(2) }
    end
  end

  def test_ticks_queued_in_a_timer_come_before_the_timers_that_it_arms
    assert_order [:first, 1, 2, :second, 3] do
      Pelton.add_timer(0) do
        log(:first)
        Pelton.add_timer(0) { log(:second) }
        Pelton.next_tick { log(1) && Pelton.next_tick { log(3) } }
        Pelton.next_tick { log(2) }
      end
    end
  end

  def test_all_timers_that_are_due_come_before_the_ticks_of_the_first
    assert_order [:one, :two, 1, 2, :three] do
      Pelton.add_timer(0) { log(:one) && Pelton.next_tick { log(1) } }
      Pelton.add_timer(0) do
        log(:two)
        Pelton.add_timer(0) { log(:three) }
        Pelton.next_tick { log(2) }
      end
    end
  end

  def test_a_timer_cancelled_by_one_due_at_the_same_time_does_not_fire
    assert_order [1] do
      second = nil
      Pelton.add_timer(0.001) { log(1) && second.cancel }
      second = Pelton.add_timer(0.001) { log(2) }
      block_the_loop(0.003)
    end
  end

  private

  def log(entry) = @log << entry

  def assert_order(expected, &block)
    @log = []
    Pelton.run(&block)
    assert_equal expected, @log
  end

  def block_the_loop(seconds) = Fiber.new(blocking: true) { sleep seconds }.resume
end
