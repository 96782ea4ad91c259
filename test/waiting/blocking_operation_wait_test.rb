# frozen_string_literal: true

require "tempfile"
require "zlib"
require_relative "../test_helper"
require "pelton"

# Ruby calls the hook from 3.4 on, and lets C notice long calls from 3.3 on.
class BlockingOperationWaitTest < PeltonTest
  Hook = Pelton::Scheduler::BlockingOperationWait

  def setup
    Hook.install
  end

  def teardown
    Hook.remove
  end

  def test_work_that_may_block_is_done_in_place
    assert_same Thread.current, Pelton.run { wait_for(-> { Thread.current }) }
  end

  def test_its_error_is_the_caller_s
    error = assert_raises(KeyError) { Pelton.run { wait_for(-> { raise KeyError, "oh" }) } }

    assert_equal "oh", error.message
  end

  def test_work_of_a_place_that_has_blocked_for_long_is_offloaded
    threads = []
    Pelton.run do
      2.times { |i| threads << wait_for(-> { block(i == 0) && Thread.current }) }
    end

    assert_same Thread.current, threads.first
    refute_same Thread.current, threads.last
  end

  def test_an_error_of_offloaded_work_is_the_caller_s
    Pelton.run do
      assert_raises(KeyError) do
        2.times { |i| wait_for(-> { block(i == 0) && Thread.current != Thread.main && raise(KeyError) }) }
      end
    end
  end

  # The operation works on the caller's memory.
  def test_a_cancelled_blocking_operation_is_waited_for
    gate = Queue.new
    log = []
    Pelton.run do
      task = Pelton.spawn do
        2.times { |i| wait_for(-> { (i == 0) ? block(true) : gate.pop && log << :operation }) }
      ensure
        log << :ensure
      end
      sleep 0
      task.cancel
      sleep 0.01
      log << :cancelled
      gate << 1
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_equal %i[cancelled operation ensure], log
  end

  # Other fibers would see half-loaded code.
  def test_nothing_is_offloaded_while_code_is_loaded
    Tempfile.create(["loaded", ".rb"]) do |file|
      file.write(<<~RUBY)
        block = -> { Fiber.new(blocking: true) { sleep 0.002 }.resume }
        THREADS = Array.new(3) { |i| Fiber.scheduler.blocking_operation_wait(-> { block.call && Thread.current }) }
      RUBY
      file.flush
      Pelton.run { load(file.path, Module.new.tap { |scope| @scope = scope }) }

      assert_equal [Thread.current], @scope.const_get(:THREADS).uniq
    end
  end

  def test_ruby_does_not_ask_before_a_call_was_long
    needs_long_calls
    Hook.remove
    Pelton.run { 100.times { File.file?(__FILE__) } }

    refute_predicate self, :asks?
  end

  def test_ruby_asks_after_a_long_call
    needs_long_calls
    Hook.remove
    Pelton.run { block(true) }

    assert_predicate self, :asks?
  end

  # However long a thread that computes keeps the GVL.
  def test_waiting_for_the_gvl_makes_no_call_long
    needs_long_calls
    Hook.remove
    Pelton.logger # loads a library for the watchdog's report: each file of it would wait for the GVL
    text = Zlib.deflate("x" * 1000)
    over = false
    computing = Thread.new { nil until over }
    Pelton.run { 3.times { Zlib.inflate(text) } }
    over = true
    computing.join

    refute_predicate self, :asks?
  end

  def test_the_hook_goes_after_many_short_calls
    Pelton.run { 2_000.times { wait_for(-> {}) if asks? } }

    refute_predicate self, :asks?
  end

  private

  def wait_for(work) = Fiber.scheduler.blocking_operation_wait(work)

  # Blocks the thread outside the GVL for two milliseconds or more.
  def block(yes)
    Fiber.new(blocking: true) { sleep 0.002 }.resume if yes
    true
  end

  def asks? = Pelton::Reactor.method_defined?(:blocking_operation_wait)

  def needs_long_calls
    skip "this Ruby does not say when a thread gives the GVL away" unless Pelton::Scheduler.long_calls
  end
end
