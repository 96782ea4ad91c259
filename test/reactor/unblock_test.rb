# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "monitor"
require "pelton"

# How Queue, Mutex, Monitor and threads wake fibers.
class UnblockTest < PeltonTest
  include EventLog

  def test_many_threads_unblock_at_once
    Pelton.run do
      tasks = Array.new(200) { |i| Pelton.spawn { Thread.new { i.tap { Thread.pass } }.value } }

      assert_equal (0...200).sum, tasks.sum(&:await)
      assert_equal 0, Pelton.stats[:parked]
    end
  end

  def test_a_burst_from_a_thread_reaches_all
    queue = Queue.new
    Pelton.run do
      tasks = Array.new(1000) { Pelton.spawn { queue.pop } }
      Pelton.next_tick { Thread.new { 1000.times { |i| queue << i } } }

      assert_equal (0...1000).to_a, tasks.map(&:await).sort
    end
  end

  def test_a_mutex_held_across_a_wait_keeps_others_out
    mutex = Mutex.new
    Pelton.run do
      5.times do |i|
        Pelton.spawn do
          mutex.synchronize do
            @log << i
            sleep 0.001
            @log << i
          end
        end
      end
    end

    assert_equal [0, 0, 1, 1, 2, 2, 3, 3, 4, 4], @log
  end

  def test_a_monitor_belongs_to_the_fiber_that_entered_it
    monitor = Monitor.new
    Pelton.run do
      Pelton.spawn { monitor.synchronize { sleep(0.001) && monitor.synchronize { @log << 1 } } }
      Pelton.spawn { monitor.synchronize { @log << 2 } }
    end

    assert_equal [1, 2], @log
  end

  # Ruby runs a trap handler on the fiber that has just been switched to. There the mutex comes while the handler waits.
  def test_a_mutex_that_comes_while_a_trap_handler_waits_reaches_the_next
    mutex = Mutex.new
    gate, unlocked = Array.new(2) { Pelton::Operation.new }
    handler = trap(:USR1) { (@log << "struck") && unlocked.await }
    Pelton.run do |fiber|
      Pelton.spawn { mutex.synchronize { gate.await } }.callback { unlocked.succeed }
      Pelton.spawn { (fiber = Fiber.current) && mutex.synchronize { sleep 0 } }.errback do |error|
        @log << error.message
      end
      Pelton.spawn { mutex.synchronize { @log << "next" } }
      sleep 0
      strike = TracePoint.new(:fiber_switch) do
        strike.disable && Process.kill(:USR1, Process.pid) if Fiber.current.equal?(fiber)
      end
      strike.enable
      Pelton::Reactor.current.raise_in(fiber, RuntimeError.new("raised"))
      Pelton.next_tick { gate.succeed }
    end

    assert_equal %w[next raised struck], @log.sort
  ensure
    trap(:USR1, handler || "DEFAULT")
  end

  # The same, where the mutex came first, and the stop cancels the handler.
  def test_a_mutex_reaches_the_next_although_the_stop_cancels_a_trap_handler_where_it_came
    mutex = Mutex.new
    gate = Pelton::Operation.new
    thread = nil
    handler = trap(:USR1) { (@log << "struck") && Pelton::Operation.new.await }
    Pelton.run do |fiber|
      Pelton.spawn { mutex.synchronize { gate.await } }
      Pelton.spawn do
        (fiber = Fiber.current) && mutex.synchronize { (@log << "locked") && sleep(0) && @log << "not cancelled" }
      end
      sleep 0
      thread = Thread.new { mutex.synchronize { @log << "next" } }
      sleep 0 until thread.stop?
      strike = TracePoint.new(:fiber_switch) do
        strike.disable && Process.kill(:USR1, Process.pid) if Fiber.current.equal?(fiber)
      end
      strike.enable
      gate.succeed
      sleep 0 until @log.any?
      Pelton.stop
    end
    thread.join

    assert_equal %w[struck locked next], @log
  ensure
    trap(:USR1, handler || "DEFAULT")
  end

  # A waiter that has received the mutex goes on, although it was cancelled: otherwise all waiters behind it would wait
  # for ever.
  def test_a_cancelled_waiter_of_a_mutex_loses_no_wake_up
    mutex = Mutex.new
    Pelton.run do
      mutex.lock
      tasks = Array.new(2) { |i| Pelton.spawn { mutex.synchronize { @log << i } } }
      Pelton::Reactor.current.yield
      mutex.unlock # wakes the first waiter
      tasks.first.cancel
      tasks.last.await
    end

    assert_equal [0, 1], @log
    refute mutex.locked?
  end

  def test_a_cancelled_waiter_of_a_queue_loses_no_item
    queue = Queue.new
    Pelton.run do
      first = Pelton.spawn { @log << [:first, queue.pop] }
      second = Pelton.spawn { @log << [:second, queue.pop] }
      Pelton::Reactor.current.yield
      queue << 1
      first.cancel # the item has woken this task already
      queue << 2 if @log.empty?
      [first, second].each { |task|
        begin
          task.await
        rescue
          nil
        end
      }
    end

    assert_equal [[:first, 1], [:second, 2]], @log
  end

  def test_a_sized_queue_holds_its_producer_back
    queue = SizedQueue.new(1)
    Pelton.run do
      Pelton.spawn { 5.times { |i| queue << i and @log << -i } && queue.close }
      while (i = queue.pop)
        @log << i
      end
    end

    assert_equal [0, 1, 2, 3, 4], @log.select(&:positive?).unshift(0)
    assert_equal 10, @log.size
  end
end
