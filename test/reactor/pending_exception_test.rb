# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "pelton"

# Exceptions for a fiber that must not be interrupted now: they strike when it waits next.
class PendingExceptionTest < PeltonTest
  include EventLog

  # The fiber has received an item, so it first goes on with the item. The exception is not lost.
  def test_an_exception_raised_in_an_unblocked_fiber_strikes_at_its_next_wait
    queue = Queue.new
    Pelton.run do
      task = Pelton.spawn { popping_and_sleeping(queue) }
      Pelton::Reactor.current.yield
      queue << :item
      @log << Pelton::Reactor.current.raise_in(@popper, ArgumentError, "pending")
      task.await
    end

    assert_equal [true, :item, "pending", :end], @log
  end

  # The other order: the fiber is about to raise an exception when it receives the item, which no other fiber would get.
  def test_an_item_given_to_a_fiber_with_an_exception_comes_first
    queue = Queue.new
    Pelton.run do
      task = Pelton.spawn { popping_and_sleeping(queue) }
      Pelton::Reactor.current.yield
      Pelton::Reactor.current.raise_in(@popper, ArgumentError, "pending")
      queue << :item
      task.await
    end

    assert_equal [:item, "pending", :end], @log
  end

  def test_two_exceptions_for_one_fiber_strike_one_after_the_other
    Pelton.run do
      task = Pelton.spawn do
        @popper = Fiber.current
        3.times { @log << (sleep(0.001) && :slept) rescue @log << $!.message } # standard:disable Style/RescueModifier
      end
      Pelton::Reactor.current.yield
      %w[one two].each { |message| Pelton::Reactor.current.raise_in(@popper, message) }
      task.await
    end

    assert_equal ["one", "two", :slept], @log
  end

  # A fiber that was unblocked when its run ended, and then yielded, is resumed in the next run.
  def test_a_fiber_that_outlives_a_run_is_not_cancelled_in_the_next
    queue = Queue.new
    fiber = Fiber.new { @log << queue.pop << Fiber.yield << sleep(0) }
    Pelton.run do
      Pelton.next_tick { fiber.resume }
      Pelton::Reactor.current.yield
      queue << :item
      Pelton.stop
    end
    Pelton.run { fiber.resume(:resumed) }

    assert_equal [:item, :resumed, 0], @log
  end

  def test_a_pending_exception_vanishes_with_its_callback
    queue = Queue.new
    Pelton.run do
      Pelton.next_tick { @popper = Fiber.current and @log << queue.pop }
      Pelton::Reactor.current.yield
      queue << :item
      Pelton::Reactor.current.raise_in(@popper, "for a callback that waits no more")
      10.times { Pelton.next_tick { sleep(0) && @log << :other } } # also on the same worker
    end

    assert_equal [:item, *[:other] * 10], @log
  end

  private

  def popping_and_sleeping(queue)
    @popper = Fiber.current
    @log << queue.pop
    sleep
  rescue ArgumentError => error
    @log << error.message
    sleep 0 # no exception strikes here
    @log << :end
  end
end
