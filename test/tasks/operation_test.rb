# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"
require "set"

# Features that operations have beyond other Deferrables. deferrable_test.rb tests the common part.
class OperationTest < PeltonTest
  def setup
    @operation = Pelton::Operation.new
    @log = []
  end

  def test_all_fibers_that_await_it_get_its_error_with_a_backtrace_of_their_own
    errors = Pelton.run do
      tasks = [1, 2].map { |number| Pelton.spawn { await_and_rescue(number) } }
      sleep 0
      @operation.fail(IOError.new("no"))
      tasks.map(&:await)
    end

    assert_equal ["no"], errors.map(&:message).uniq
    assert_equal 2, errors.map(&:backtrace).uniq.size
  end

  def test_a_cancelled_fiber_leaves_the_other_awaiting_fibers_alone
    Pelton.run do
      first, second = Array.new(2) { Pelton.spawn { @operation.await } }
      sleep 0
      first.cancel
      sleep 0
      @operation.succeed(1)

      assert_equal 1, second.await
      assert_raises(Pelton::Cancelled) { first.await }
    end
  end

  def test_only_the_thread_of_its_reactor_may_await_it
    error = Thread.new { assert_raises(Pelton::Error) { @operation.await } }.value

    assert_match(/thread of its reactor/, error.message)
    assert_equal 1, Thread.new { @operation.succeed(1).await }.value
  end

  def test_timeouts_end_with_their_operations
    run_elsewhere do
      operations = Array.new(1000) { Pelton::Operation.new.timeout(3600) }

      assert_equal 1000, Pelton.stats[:timers]
      operations.each_slice(2) { |one, other| one.succeed && other.timeout(nil) }
      assert_equal 0, Pelton.stats[:timers]
    end
  end

  def test_a_timeout_does_not_outlive_the_run
    operation, timers = run_elsewhere { Pelton.stop(Pelton::Operation.new.timeout(3600)) }

    assert_equal 0, timers
    assert_equal :pending, operation.state
  end

  def test_blocks_have_begun_when_await_returns_whenever_the_outcome_comes
    settle = {
      before: ->(operation) { operation.succeed(1) },
      in_a_tick: ->(operation) { Pelton.next_tick { operation.succeed(1) } },
      by_a_timer: ->(operation) { Pelton.add_timer(0.001) { operation.succeed(1) } },
      by_a_task: ->(operation) { Pelton.spawn { operation.succeed(1) } },
      by_a_thread: ->(operation) { Thread.new { operation.succeed(1) } }
    }
    settle.each do |name, way|
      Pelton.run do
        begun = []
        operation = Pelton::Operation.new.callback { begun << :first && sleep(0.001) }.callback { begun << :second }
        last = operation.map { begun << :mapped }
        way.call(operation)
        operation.await

        assert_equal :first, begun.first, name
        last.await
        assert_equal %i[first second mapped], begun, name
      end
    end
  end

  def test_blocks_of_earlier_operations_have_begun_when_await_of_the_last_returns
    Pelton.run do
      operations = Array.new(50) { |i| Pelton::Operation.new.callback { @log << i } }
      Pelton.next_tick { operations.each(&:succeed) }
      operations.last.await

      assert_equal (0...50).to_a, @log
    end
  end

  def test_errbacks_have_begun_when_await_raises
    Pelton.run do
      operation = Pelton::Operation.new.errback { |error| @log << error.message }
      Pelton.next_tick { operation.fail(IOError.new("no")) }

      assert_raises(IOError) { operation.await }
      assert_equal ["no"], @log
    end
  end

  def test_a_block_may_await_its_own_operation
    Pelton.run do
      operation = Pelton::Operation.new
      operation.callback { @log << operation.await }.succeed(1)
      operation.await
    end

    assert_equal [1], @log
  end

  def test_fibers_that_await_go_on_and_callbacks_run_each_once
    Pelton.run do
      operation = Pelton::Operation.new
      3.times { |i| Pelton.spawn { @log << [i, operation.await] } }
      operation.callback { |value| @log << [:callback, value] }
      Pelton::Reactor.current.yield
      operation.succeed(:x)
    end

    assert_equal [[0, :x], [1, :x], [2, :x], [:callback, :x]].to_set, @log.to_set
    assert_equal 4, @log.size
  end

  def test_a_fiber_whose_await_timed_out_is_not_woken_again
    Pelton.run do
      operation = Pelton::Operation.new
      assert_raises(Pelton::TimeoutError) { operation.await(timeout: 0.001) }
      Pelton.next_tick { operation.succeed(1) }
      sleep 0.002

      assert_equal 1, operation.await
    end
  end

  def test_an_await_without_time_looks_once
    Pelton.run do
      operation = Pelton::Operation.new
      assert_raises(Pelton::TimeoutError) { operation.await(timeout: 0) }
      assert_raises(Pelton::TimeoutError) { operation.await(timeout: -1) }
      assert_raises(ArgumentError) { operation.await(timeout: Float::NAN) }
      assert_raises(TypeError) { operation.await(timeout: "1") }
      operation.succeed(1)

      assert_equal 1, operation.await(timeout: 0)
    end
  end

  def test_callbacks_that_settle_each_other_run_in_ticks_not_in_depth
    Pelton.run do
      chain = Array.new(20_000) { Pelton::Operation.new }
      chain.each_cons(2) { |one, other| one.callback { |value| other.succeed(value + 1) } }
      chain.first.succeed(0)

      assert_equal 19_999, chain.last.await
    end
  end

  def test_many_operations_without_references
    Pelton.run do
      20_000.times { |i| Pelton::Operation.new.callback { |value| @log << value }.succeed(i) }
      GC.start
    end

    assert_equal (0...20_000).to_a, @log
  end

  def test_operations_that_a_stop_drops_are_freed
    GC.start
    Pelton.run {} # reports what has failed in other tests, and was collected now
    3.times do
      Pelton.run(grace: 0) do
        again = ->(_) { Pelton::Operation.new.callback(&again).succeed }
        again.call(nil)
        Pelton.add_timer(0) { Pelton.stop }
      end
    end
    GC.start

    assert_equal 0, Pelton.stats[:ready]
  end

  def test_blocks_that_a_stop_has_dropped_are_called_with_the_next_one
    last = nil
    Pelton.run(grace: 0) do
      again = ->(_) { (last = Pelton::Operation.new).callback(&again).succeed }
      again.call(nil)
      Pelton.add_timer(0) { Pelton.stop }
    end
    Pelton.run(grace: 0) { last.callback { (@log << 1) && Pelton.stop } }

    assert_equal [1], @log
  end

  def test_a_deferred_callback_of_a_dead_thread_is_harmless
    operation = Thread.new { Pelton.run { Pelton::Operation.new } }.value
    GC.start
    operation.callback { @log << 1 }.succeed
    GC.start

    assert_predicate operation, :done?
    assert_empty @log
  end

  private

  # Runs the block on a reactor without other timers. Returns the value of run, and the number of timers that are left.
  def run_elsewhere(&block) = Thread.new { [Pelton.run(&block), Pelton.stats[:timers]] }.value

  def await_and_rescue(number)
    return @operation.await if number == 1
    @operation.await
  rescue IOError => error
    error
  end
end
