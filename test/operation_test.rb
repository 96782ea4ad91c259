# frozen_string_literal: true

require_relative "test_helper"
require "pelton"

# What is particular about operations; what they share with other Deferrables is in deferrable_test.rb.
class OperationTest < PeltonTest
  def setup
    @operation = Pelton::Operation.new
  end

  def test_it_is_a_deferrable
    assert_kind_of Pelton::Deferrable, @operation
  end

  def test_all_fibers_that_await_it_get_its_value
    values = Pelton.run do
      tasks = Array.new(3) { Pelton.spawn { @operation.await } }
      sleep 0
      @operation.succeed(1)
      tasks.map(&:await)
    end

    assert_equal [1, 1, 1], values
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

  def test_an_error_that_a_task_has_raised_says_where
    Pelton.run do
      error = assert_raises(IOError) { Pelton.spawn { fail_here }.await }

      assert_match(/fail_here/, error.backtrace.first)
    end
  end

  def test_one_that_is_cancelled_leaves_the_others_waiting
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

  def test_limits_are_gone_with_their_operations
    Pelton.run do
      operations = Array.new(1000) { Pelton::Operation.new.timeout(3600) }

      assert_equal 1000, Pelton.stats[:timers]
      operations.each_slice(2) { |one, other| one.succeed && other.timeout(nil) }
      assert_equal 0, Pelton.stats[:timers]
    end
  end

  def test_a_limit_does_not_outlive_the_run
    Pelton.run { @operation.timeout(3600) && Pelton.stop }

    assert_equal 0, Pelton.stats[:timers]
    assert_equal :pending, @operation.state
  end

  private

  def fail_here = raise(IOError)

  def await_and_rescue(number)
    return @operation.await if number == 1
    @operation.await
  rescue IOError => error
    error
  end
end
