# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "pelton"

class GroupTest < PeltonTest
  include EventLog

  def setup
    super
    @reported = []
    Pelton.on_error { |error| @reported << error.message }
  end

  def teardown
    Pelton.on_error
    super
  end

  # ---- the end ------------------------------------------------------------------------------------------------------

  def test_it_returns_the_blocks_value_when_all_tasks_have_ended
    value = Pelton.group do |group|
      3.times { |i| group.spawn { sleep(0.003 - i / 1000.0) && @log << i } }
      @log << :block
      :value
    end

    assert_equal :value, value
    assert_equal [:block, 2, 1, 0], @log
  end

  def test_its_tasks_may_spawn_more
    Pelton.group { |group| group.spawn { group.spawn { sleep(0.001) && group.spawn { @log << :third } } } }

    assert_equal [:third], @log
  end

  def test_an_empty_group
    assert_equal 1, Pelton.group { 1 }
    assert_nil Pelton.run { Pelton.group {} }
  end

  def test_a_break_waits_for_the_tasks
    Pelton.run do
      value = Pelton.group do |group|
        group.spawn { sleep(0.001) && @log << :task }
        break :broken
      end

      assert_equal :broken, value
      assert_equal [:task], @log
    end
  end

  def test_an_ended_group_takes_no_tasks
    Pelton.run do
      group = Pelton.group { |inside| inside }

      assert_raises(Pelton::ClosedError) { group.spawn {} }
    end
  end

  def test_wrong_arguments
    assert_raises(ArgumentError) { Pelton.group }
    assert_raises(ArgumentError) { Pelton.group { |group| group.spawn } }
    [0, -1, 1.5].each { |limit| assert_raises(ArgumentError) { Pelton.group(concurrency: limit) {} } }
  end

  # ---- errors -------------------------------------------------------------------------------------------------------

  def test_the_first_error_cancels_the_others_and_is_raised_when_they_have_ended
    error = assert_raises(IOError) do
      Pelton.group do |group|
        group.spawn { ensuring(:sleeper) { sleep } }
        group.spawn { sleep(0.001) && raise(IOError, "first") }
        ensuring(:block) { sleep }
      end
    end

    assert_equal "first", error.message
    assert_equal %i[block sleeper], @log.sort
    assert_empty error.suppressed
    assert_nil error.cause
    assert_match(/group_test/, error.backtrace.first)
    assert_empty @reported
  end

  def test_an_error_of_the_block_cancels_the_tasks
    error = assert_raises(IOError) do
      Pelton.group do |group|
        group.spawn { ensuring(:task) { sleep } }
        sleep 0
        raise IOError, "block"
      end
    end

    assert_equal "block", error.message
    assert_equal [:task], @log
  end

  # Each await raises a copy of the error.
  def test_an_awaited_task_s_error_is_not_attached_to_itself
    error = assert_raises(IOError) do
      Pelton.group do |group|
        task = group.spawn { sleep(0.001) && raise(IOError, "first") }
        group.spawn { task.await }
        task.await
      end
    end

    assert_empty error.suppressed
  end

  def test_the_other_errors_are_attached
    error = assert_raises(IOError) do
      Pelton.group do |group|
        2.times { |i| group.spawn { failing_at_its_end("task #{i}") { sleep } } }
        group.spawn { sleep(0.001) && raise(IOError, "first") }
        failing_at_its_end("block") { sleep }
      end
    end

    assert_equal "first", error.message
    assert_equal ["block", "task 0", "task 1"], error.suppressed.map(&:message).sort
    assert_empty @reported
  end

  def test_an_awaited_error_is_raised_once
    error = assert_raises(IOError) { Pelton.group { |group| group.spawn { sleep(0.001) && raise(IOError) }.await } }

    assert_empty error.suppressed
  end

  def test_a_block_that_rescues_everything_does_not_hide_the_error
    assert_raises(IOError) do
      Pelton.group do |group|
        group.spawn { raise IOError }
        sleep
      rescue Exception # rubocop:disable Lint/RescueException
        @log << :rescued
      end
    end
    assert_equal [:rescued], @log
  end

  # The exception that would have interrupted the block must not strike the caller later.
  def test_an_error_that_comes_as_the_block_ends_interrupts_nothing_later
    Pelton.run do
      assert_raises(IOError) do
        Pelton.group do |group|
          task = group.spawn { raise IOError }
          Pelton::Reactor.current.yield until task.done?
        end
      end
      sleep 0.001
      @log << :slept
    end

    assert_equal [:slept], @log
  end

  def test_no_task_begins_after_an_error
    assert_raises(IOError) do
      Pelton.group do |group|
        group.spawn { raise IOError }
        group.spawn { @log << :never }
        begin
          sleep
        ensure
          assert_raises(Pelton::Cancelled) { group.spawn { @log << :never } }
        end
      end
    end
    assert_equal [], @log - [:never]
  end

  def test_exit_in_a_task_ends_the_run
    error = assert_raises(SystemExit) { Pelton.run { Pelton.group { |group| group.spawn { exit 3 } && sleep } } }

    assert_equal 3, error.status
  end

  # ---- cancelling ---------------------------------------------------------------------------------------------------

  def test_cancelling_the_caller_cancels_the_tasks_and_waits_for_them
    Pelton.run do
      task = Pelton.spawn do
        Pelton.group do |group|
          2.times { |i| group.spawn { ensuring(i) { sleep } } }
          Pelton.group { |inner| inner.spawn { ensuring(:inner) { sleep } } }
        end
      end
      sleep 0.001
      task.cancel

      assert_raises(Pelton::Cancelled) { task.await }
      assert_equal [0, 1, :inner], @log.sort_by(&:to_s)
    end
  end

  def test_errors_of_tasks_that_the_callers_cancellation_has_ended_are_reported
    Pelton.run do
      task = Pelton.spawn { Pelton.group { |group| group.spawn { failing_at_its_end("late") { sleep } } } }
      sleep 0.001
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_equal ["late"], @reported
  end

  def test_a_task_that_is_cancelled_by_itself_is_no_error
    Pelton.group do |group|
      task = group.spawn { sleep }
      group.spawn { sleep(0.001) && @log << :other }
      sleep 0
      task.cancel
    end

    assert_equal [:other], @log
  end

  def test_cancel_ends_all_tasks_and_lets_the_block_go_on
    value = Pelton.group do |group|
      3.times { |i| group.spawn { ensuring(i) { sleep } } }
      sleep 0
      group.cancel
      assert_raises(Pelton::Cancelled) { group.spawn {} }
      :value
    end

    assert_equal :value, value
    assert_equal [0, 1, 2], @log.sort
  end

  def test_a_task_may_cancel_its_group
    Pelton.group do |group|
      group.spawn { ensuring(:sleeper) { sleep } }
      group.spawn { ensuring(:itself) { sleep(0.001) && group.cancel } }
    end

    assert_equal %i[itself sleeper], @log.sort
  end

  # A second Cancelled would strike the ensure blocks that the first one has started.
  def test_each_task_is_cancelled_once
    Pelton.group do |group|
      task = group.spawn { ensuring(:task) { sleep } }
      group.spawn(transient: true) { ensuring(:transient) { sleep } }
      sleep 0
      task.cancel
      Pelton::Reactor.current.yield
      2.times { group.cancel && Pelton::Reactor.current.yield }
    end

    assert_equal %i[task transient], @log.sort
  end

  def test_a_stop_of_the_reactor_ends_the_tasks
    Pelton.run do
      Pelton.group do |group|
        group.spawn { ensuring(:task) { sleep } }
        group.spawn { Pelton.stop }
      end
    end

    assert_equal [:task], @log
  end

  # ---- limits -------------------------------------------------------------------------------------------------------

  def test_its_time_limit_cancels_the_block_and_the_tasks
    assert_raises(Pelton::TimeoutError) { Pelton.group(timeout: 0.001) { ensuring(:block) { sleep } } }
    assert_raises(Pelton::TimeoutError) do
      Pelton.group(timeout: 0.001) { |group| group.spawn { ensuring(:task) { sleep } } }
    end
    assert_equal %i[block task], @log
  end

  def test_time_limits_around_it_reach_everything_below
    Pelton.run do
      {
        Pelton::TimeoutError => Pelton.method(:timeout),
        Timeout::Error => Timeout.method(:timeout)
      }.each do |error, limit|
        assert_raises(error) do
          limit.call(0.001) do
            Pelton.group(timeout: 3600) { |group| group.spawn { Pelton.map([1]) { ensuring(:task) { sleep } } } }
          end
        end
      end
    end

    assert_equal %i[task task], @log
  end

  def test_so_many_tasks_run_at_a_time
    running = most = 0
    Pelton.group(concurrency: 2) do |group|
      6.times do
        group.spawn do
          most = [most, running += 1].max
          sleep 0.001
          running -= 1
        end
      end
    end

    assert_equal 2, most
  end

  def test_a_failed_task_ends_a_spawn_that_waits
    assert_raises(IOError) do
      Pelton.group(concurrency: 1) do |group|
        group.spawn { sleep(0.001) && raise(IOError) }
        group.spawn { @log << :never }
      end
    end
    assert_empty @log
  end

  # ---- each, transient tasks ----------------------------------------------------------------------------------------

  def test_each_yields_the_tasks_in_the_order_of_their_ends
    Pelton.group do |group|
      [3, 1, 2].each { |i| group.spawn(name: i) { sleep(i / 1000.0) && i } }
      group.each { |task| @log << [task.name, task.result] }

      assert_empty group.to_a # each task is passed on once
      group.spawn { 4 }
      assert_equal [4], group.map(&:await)
    end

    assert_equal [["1", 1], ["2", 2], ["3", 3]], @log
  end

  def test_the_first_result_wins
    value = Pelton.group do |group|
      group.spawn { ensuring(:slow) { sleep } }
      group.spawn { sleep(0.001) && :fast }
      group.first.await.tap { group.cancel }
    end

    assert_equal :fast, value
    assert_equal [:slow], @log
  end

  def test_an_error_ends_each
    assert_raises(IOError) do
      Pelton.group do |group|
        group.spawn { sleep(0.001) && raise(IOError) }
        group.each { @log << :task }
        @log << :never
      end
    end
    assert_empty @log
  end

  def test_discard
    Pelton.group(discard: true) do |group|
      group.spawn { @log << :task }

      assert_raises(Pelton::Error) { group.each {} }
    end

    assert_equal [:task], @log
  end

  def test_transient_tasks_are_cancelled_at_the_end
    Pelton.group(concurrency: 1) do |group|
      group.spawn(transient: true) { ensuring(:transient) { sleep } }
      group.spawn { sleep(0.001) && @log << :task }

      assert_equal 1, group.size
      assert_equal [nil], group.map(&:name)
    end

    assert_equal %i[task transient], @log
  end

  def test_each_leaves_out_transient_tasks_that_have_ended
    Pelton.group do |group|
      group.spawn(name: "transient", transient: true) { nil }.await
      group.spawn(name: "regular") { nil }

      assert_equal ["regular"], group.map(&:name)
    end
  end

  def test_an_error_of_a_transient_task_counts
    assert_raises(IOError) { Pelton.group { |group| group.spawn(transient: true) { raise IOError } && sleep } }
  end

  def test_each_passes_on_a_stop_iteration_of_its_block
    numbers = [1].each
    Pelton.run do
      assert_raises(StopIteration) do
        Pelton.group do |group|
          3.times { group.spawn { 1 } }
          group.each { numbers.next }
        end
      end
    end
  end

  private

  def failing_at_its_end(message)
    yield
  ensure
    raise message
  end
end
