# frozen_string_literal: true

require "monitor"
require_relative "../../test_helper"
require "pelton"

# A Mutex that fibers and threads share.
class SchedulerMutexTest < PeltonTest
  # Ruby before 3.3 calls unblock within Mutex#unlock, before the thread has let go of the Mutex altogether. A thread
  # that takes it there, or an exception that is raised there, ended the process: "[BUG] invalid keeping_mutexes".
  def test_threads_that_hold_a_mutex_and_unlock_one_for_which_fibers_wait
    assert_equal "ended", ruby_output(<<~RUBY, deadline: 30)
      require "pelton"
      Pelton.logger = nil
      Pelton::Reactor.prepend(Module.new { def unblock(on, fiber) = super.tap { Thread.pass if Mutex === on } })
      outer, inner = Mutex.new, Mutex.new
      over = false
      threads = Array.new(3) { Thread.new { outer.synchronize { inner.synchronize { Thread.pass } } until over } }
      threads += Array.new(2) do
        Thread.new do
          Pelton.run { 5.times { Pelton.spawn { 100.times { inner.synchronize { sleep 0 } } } } }
        end
      end
      threads.last(2).each(&:join)
      over = true
      threads.each(&:join)
      print "ended"
    RUBY
  end

  def test_an_exception_that_another_thread_raises_while_a_mutex_is_unlocked
    assert_equal "ended", ruby_output(<<~RUBY, deadline: 30)
      require "pelton"
      Pelton.logger = nil
      struck = Class.new(StandardError)
      Pelton::Reactor.prepend(Module.new { def unblock(on, fiber) = super.tap { sleep 0.01 if Mutex === on } })
      mutex = Mutex.new
      20.times do
        held = Queue.new
        thread = Thread.new do
          mutex.synchronize { (held << true) && sleep(0.005) }
        rescue struck
          nil
        end
        held.pop
        Pelton.run do
          waiting = Pelton.spawn { mutex.synchronize { } }
          Pelton.spawn(transient: true) { sleep(0.006) && thread.raise(struck) }
          waiting.await
        end
        begin
          thread.join
        rescue struck
          nil # the thread had left its block
        end
      end
      print "ended"
    RUBY
  end

  def test_a_fiber_is_woken_however_a_thread_unlocks
    {
      unlock: ->(mutex) { mutex.lock && mutex.unlock }, synchronize: ->(mutex) { mutex.synchronize { Thread.pass } },
      sleep: ->(mutex) { mutex.synchronize { mutex.sleep(0.02) } }, end_of_thread: ->(mutex) { mutex.lock }
    }.each do |way, use|
      mutex = Mutex.new
      held, leave = Queue.new, Queue.new
      thread = Thread.new do
        mutex.synchronize { (held << true) && leave.pop }
        use.call(mutex)
      end
      held.pop
      got = nil
      Pelton.run do
        fiber = Pelton.spawn { mutex.synchronize { got = way } }
        sleep 0
        leave << true
        fiber.await
      end
      thread.join

      assert_equal way, got
      refute_predicate mutex, :locked?, way
    end
  end

  def test_a_monitor_that_a_thread_leaves
    monitor = Monitor.new
    held, leave = Queue.new, Queue.new
    thread = Thread.new { monitor.synchronize { (held << true) && leave.pop } }
    held.pop
    entered = false
    Pelton.run do
      fiber = Pelton.spawn { monitor.synchronize { entered = true } }
      sleep 0
      refute entered
      leave << true
      fiber.await
    end
    thread.join

    assert entered
  end

  def test_fibers_get_a_mutex_in_their_order
    order = []
    mutex = Mutex.new
    Pelton.run do
      mutex.synchronize do
        20.times { |number| Pelton.spawn { mutex.synchronize { (order << number) && sleep(0) } } }
        sleep 0
      end
    end

    assert_equal [*0...20], order
  end

  def test_a_fiber_that_is_cancelled_leaves_the_mutex_to_the_next
    mutex = Mutex.new
    order = []
    Pelton.run do
      mutex.lock
      first, second = Array.new(2) { |number| Pelton.spawn { mutex.synchronize { order << number } } }
      sleep 0
      first.cancel
      sleep 0
      mutex.unlock
      second.await
    end

    assert_equal [1], order
  end

  def test_a_child_has_none_of_its_parent_s_waiting_fibers
    mutex = Mutex.new
    Pelton.run do
      mutex.lock
      Pelton.spawn { mutex.synchronize { nil } }
      sleep 0
      child = fork do
        mutex.unlock
        Pelton.run { Pelton.spawn { mutex.synchronize { sleep 0 } }.await }
        exit! mutex.locked? ? 1 : 0
      end
      mutex.unlock

      assert_predicate Process.wait2(child).last, :success?
    end
  end

  def test_deadlock_and_a_stranger_s_unlock_raise_as_before
    mutex = Mutex.new
    Pelton.run do
      assert_raises(ThreadError) { mutex.synchronize { mutex.lock } }
      assert_raises(ThreadError) { mutex.unlock }
      assert_raises(ThreadError) { mutex.synchronize }
      assert_equal :value, mutex.synchronize { :value }
    end
  end
end
