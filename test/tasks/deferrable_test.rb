# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class DeferrableTest < PeltonTest
  class Download
    include Pelton::Deferrable
  end

  # The same contract for a class of the user's and for what Pelton returns.
  module Contract
    def test_callbacks_get_the_value_in_their_order_each_once
      assert_equal [[:a, 1], [:b, 1], [:c, 1]], run_and_record { |calls, deferrable|
        deferrable.callback { |value| calls << [:a, value] }.callback { |value| calls << [:b, value] }
        deferrable.errback { calls << :error }
        deferrable.succeed(1)
        deferrable.callback { |value| calls << [:c, value] }
      }
    end

    def test_errbacks_get_the_error
      error = RuntimeError.new("no")

      assert_equal [[:a, error], [:b, error]], run_and_record { |calls, deferrable|
        deferrable.callback { calls << :value }
        deferrable.errback { |failure| calls << [:a, failure] }
        deferrable.fail(error)
        deferrable.errback { |failure| calls << [:b, failure] }
      }
    end

    def test_no_block_is_called_inside_a_method
      run_and_record do |calls, deferrable|
        deferrable.callback { calls << 1 }
        deferrable.succeed
        deferrable.callback { calls << 2 }

        assert_empty calls
      end
    end

    def test_the_first_outcome_counts
      assert_equal [1], run_and_record { |calls, deferrable|
        deferrable.callback { |value| calls << value }.errback { |error| calls << error }
        deferrable.succeed(1).succeed(2).fail(3)
      }
    end

    def test_several_values_are_several_arguments
      assert_equal [[1, 2], [1, 2]], run_and_record { |calls, deferrable|
        deferrable.callback { |one, two| calls << [one, two] }
        deferrable.succeed(1, 2)
        calls << deferrable.await
      }.sort
    end

    def test_an_array_is_one_value
      assert_equal [[[1, 2]]], run_and_record { |calls, deferrable|
        deferrable.callback { |*values| calls << values }
        deferrable.succeed([1, 2])
      }
    end

    def test_state_and_result
      deferrable = make

      assert_equal :pending, deferrable.state
      assert_equal false, deferrable.done?
      assert_nil deferrable.result
      deferrable.succeed(1)
      assert_equal :succeeded, deferrable.state
      assert_equal true, deferrable.done?
      assert_equal 1, deferrable.result
    end

    def test_await_waits_for_the_value
      run_and_record do |_calls, deferrable|
        Pelton.next_tick { deferrable.succeed(:value) }

        assert_equal :value, deferrable.await
        assert_equal :value, deferrable.await
      end
    end

    def test_await_raises_the_error
      run_and_record do |_calls, deferrable|
        Pelton.next_tick { deferrable.fail(IOError.new("no")) }

        assert_equal "no", assert_raises(IOError) { deferrable.await }.message
        assert_equal "no", assert_raises(IOError) { deferrable.await }.message
      end
    end

    def test_the_message_of_await_names_the_failure
      assert_equal "the operation failed: :why", assert_raises(Pelton::Error) { make.fail(:why).await }.message
    end

    def test_await_gives_up_and_the_outcome_can_still_come
      run_and_record do |_calls, deferrable|
        assert_raises(Pelton::TimeoutError) { deferrable.await(timeout: 0.001) }
        assert_equal :pending, deferrable.state
        assert_equal 1, deferrable.succeed(1).await
      end
    end

    def test_an_unhandled_failure_is_reported_once
      assert_equal ["no"], reported { make.fail(IOError.new("no")).callback { flunk } }
      assert_equal ["the operation failed: nil"], reported { make.fail }
    end

    def test_an_errback_that_is_added_in_the_same_tick_is_called
      assert_empty reported {
        make.fail(IOError.new).errback {}
        make.fail(IOError.new).map {}.errback {}
        deferrable = make.fail(IOError.new)
        assert_raises(IOError) { deferrable.await }
      }
    end

    def test_an_error_in_a_block_is_reported_and_keeps_no_other_from_being_called
      calls = []

      assert_equal ["no"], reported {
        make.callback { raise "no" }.callback { calls << 1 }.succeed
      }
      assert_equal [1], calls
    end

    def test_a_timeout_fails_it
      assert_equal [Pelton::TimeoutError], run_and_record { |calls, deferrable|
        assert_same deferrable, deferrable.timeout(0.001)
        deferrable.errback { |error| calls << error.class }
      }
    end

    def test_a_timeout_ends_with_the_outcome
      assert_equal [1], run_and_record { |calls, deferrable|
        deferrable.timeout(3600).callback { |value| calls << value }
        deferrable.succeed(1)
      }
    end

    def test_a_timeout_can_be_replaced_and_removed
      assert_equal [:failed], run_and_record { |calls, deferrable|
        deferrable.timeout(3600).timeout(0.001).errback { calls << deferrable.state }
        make.timeout(3600).timeout(nil)
      }
    end

    def test_a_timeout_works_where_no_reactor_runs
      assert_raises(Pelton::TimeoutError) { make.timeout(0.001).await }
    end

    def test_map_succeeds_with_the_blocks_value
      run_and_record do |_calls, deferrable|
        mapped = deferrable.map { |one, two| one + two }.map { |sum| sum * 10 }
        deferrable.succeed(1, 2)

        assert_equal 30, mapped.await
      end
    end

    def test_map_passes_failures_on_and_turns_exceptions_into_failures
      run_and_record do |_calls, deferrable|
        raising = deferrable.map { raise IOError, "in the block" }
        deferrable.succeed

        assert_raises(IOError) { raising.await }
        assert_raises(EOFError) { make.fail(EOFError.new).map { flunk }.await }
      end
    end

    def test_it_is_settled_from_another_thread
      deferrable = make
      thread = Thread.new { deferrable.succeed(1) }

      assert_equal 1, Pelton.run { deferrable.await }
      thread.join
    end

    def test_an_await_that_need_not_wait_lets_no_other_task_run
      log = []
      Pelton.run do
        deferrable = make
        deferrable.succeed(1)
        Pelton.spawn { log << :other }
        deferrable.await
        log << :awaited
      end

      assert_equal %i[awaited other], log
    end

    def test_where_no_reactor_runs_await_calls_the_blocks
      deferrable = make
      calls = []
      mapped = deferrable.callback { |value| calls << value }.map(&:succ)
      deferrable.succeed(1)

      assert_empty calls
      assert_equal 2, mapped.await
      assert_equal [1], calls
    end

    def test_where_no_reactor_runs_it_is_settled_from_another_thread
      deferrable = make
      mapped = deferrable.map(&:succ)
      thread = Thread.new { deferrable.succeed(1) }

      assert_equal 2, mapped.await
      thread.join
    end

    def test_it_outlives_its_thread
      deferrables = Thread.new { Array.new(20) { make.tap(&:state) } }.value
      GC.start
      deferrables.each { |deferrable| deferrable.callback {}.succeed }

      assert deferrables.all?(&:done?)
    end

    private

    def reported
      messages = []
      Pelton.on_error { |error| messages << error.message }
      Pelton.run { yield }
      messages
    ensure
      Pelton.on_error
    end

    def run_and_record
      calls = []
      Pelton.run { yield calls, make }
      calls
    end
  end

  class OperationTest < PeltonTest
    include Contract

    private

    def make = Pelton::Operation.new
  end

  class MixinTest < PeltonTest
    include Contract

    private

    def make = Download.new
  end
end
