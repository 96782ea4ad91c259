# frozen_string_literal: true

require_relative "test_helper"
require "pelton"

class TaskTest < PeltonTest
  def setup
    @log = []
    Pelton.on_error { |error| @log << error.message }
  end

  def teardown
    Pelton.on_error
  end

  def test_a_task_begins_when_its_maker_waits_or_returns
    Pelton.run do
      task = Pelton.spawn { @log << :task }
      @log << task.state
      @log << task.await.last
      @log << task.state
    end

    assert_equal %i[pending task task succeeded], @log
  end

  def test_tasks_begin_in_order
    Pelton.run { 5.times { |i| Pelton.spawn { @log << i } } }

    assert_equal [0, 1, 2, 3, 4], @log
  end

  def test_await_returns_the_value_to_everybody_who_asks
    Pelton.run do
      task = Pelton.spawn { sleep(0.001) && :value }
      askers = Array.new(3) { Pelton.spawn { task.await } }

      assert_equal %i[value value value value], askers.map(&:await) << task.await
    end
  end

  def test_await_raises_the_error_to_everybody_with_the_place_where_the_task_failed
    Pelton.run do
      task = Pelton.spawn { sleep(0.001) && fail_here }
      errors = Array.new(2) {
        Pelton.spawn {
          begin
            task.await
          rescue
            $!
          end
        }
      }.map(&:await)

      assert_equal %w[failed failed], errors.map(&:message)
      errors.each { |error| assert_match(/fail_here/, error.backtrace.first) }
    end
    assert_empty @log # somebody heard of it
  end

  def test_an_error_that_nobody_awaits_is_not_silent
    Pelton.run { Pelton.spawn { raise "alone" } }

    assert_equal ["alone"], @log
  end

  def test_a_task_is_a_deferrable
    Pelton.run do
      Pelton.spawn { 1 }.callback { |value| @log << value }
      Pelton.spawn { raise "no" }.callback { flunk }.errback { |error| @log << error.message }
    end

    assert_equal [1, "no"], @log
  end

  def test_a_task_awaits_itself_in_vain
    Pelton.run do
      task = Pelton.spawn { assert_raises(Pelton::TimeoutError) { task.await(timeout: 0.001) } && :went_on }

      assert_equal :went_on, task.await
    end
  end

  def test_current
    assert_nil Pelton::Task.current
    Pelton.run do
      main = Pelton::Task.current
      task = Pelton.spawn { [Pelton::Task.current, sleep(0.001), Pelton::Task.current, Fiber.new { Pelton::Task.current }.resume] }
      values = task.await

      assert_kind_of Pelton::Task, main
      assert_same main, Pelton::Task.current
      assert_equal [task, task, task], values.values_at(0, 2, 3)
      Pelton.next_tick { @log << Pelton::Task.current }
      Fiber.schedule { @log << Pelton::Task.current }
    end

    assert_equal [nil, nil], @log
  end

  # ---- cancel --------------------------------------------------------------------------------------------------------

  def test_cancel_before_it_begins
    Pelton.run do
      task = Pelton.spawn { @log << :never }

      assert task.cancel
      refute task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_empty @log
  end

  def test_cancel_while_it_waits_runs_its_ensure_blocks_which_may_wait
    Pelton.run do
      task = Pelton.spawn do
        sleep
      ensure
        sleep 0.001
        @log << :ensured
      end
      Pelton::Reactor.current.yield

      assert task.cancel
      assert_equal :pending, task.state
      assert_raises(Pelton::Cancelled) { task.await }
      refute task.cancel
    end

    assert_equal [:ensured], @log
  end

  # Otherwise the rest of the block would be left out, and nobody would know.
  def test_runs_block_that_awaits_a_cancelled_task
    error = assert_raises(Pelton::Cancelled) do
      Pelton.run do
        task = Pelton.spawn { sleep }
        task.cancel
        task.await
      end
    end

    assert_match(/the task was cancelled/, error.message)
    assert_equal :stopped, Pelton.run { Pelton.add_timer(0.001) { Pelton.stop(:stopped) } && sleep } # which is no error
  end

  def test_cancel_when_it_is_done
    Pelton.run do
      task = Pelton.spawn { 1 }
      task.await

      refute task.cancel
      assert_equal 1, task.await
    end
  end

  def test_cancel_oneself
    Pelton.run do
      task = Pelton.spawn { Pelton::Task.current.cancel && @log << :never }
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_empty @log
  end

  def test_cancel_of_one_that_is_ready
    Pelton.run do
      operation = Pelton::Operation.new
      task = Pelton.spawn { operation.await && @log << :never }
      Pelton::Reactor.current.yield
      operation.succeed(1)
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_empty @log
  end

  # Ruby raises in no fiber that has resumed another one: the task hears of it when it waits itself.
  def test_cancel_of_one_that_has_resumed_a_fiber
    Pelton.run do
      inner = nil
      task = Pelton.spawn do
        inner = Fiber.new { sleep(0.002) && @log << :inner }
        inner.resume
        @log << :resumed
        sleep
      end
      Pelton::Reactor.current.yield
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_equal %i[inner resumed], @log
  end

  def test_a_cancel_that_came_too_late_does_not_reach_the_next_task
    Pelton.run do
      task = Pelton.spawn { Fiber.new { task.cancel }.resume && :done }

      assert_equal :done, task.await
      assert_equal :next, Pelton.spawn { sleep(0.001) && :next }.await
    end
  end

  def test_who_swallows_a_cancel_goes_on
    Pelton.run do
      task = Pelton.spawn do
        sleep
      rescue Pelton::Cancelled
        sleep(0.001) && :went_on
      end
      Pelton::Reactor.current.yield
      task.cancel

      assert_equal :went_on, task.await
    end
  end

  def test_cancelling_is_no_error_that_anybody_must_hear_of
    Pelton.run do
      task = Pelton.spawn { sleep }
      Pelton::Reactor.current.yield
      task.cancel
    end

    assert_empty @log
  end

  def test_an_error_of_an_ensure_block_is
    Pelton.run do
      task = Pelton.spawn do
        sleep
      ensure
        raise "in ensure"
      end
      Pelton::Reactor.current.yield
      task.cancel
    end

    assert_equal ["in ensure"], @log
  end

  def test_cancel_from_another_thread
    Pelton.run do
      task = Pelton.spawn { sleep }
      Pelton::Reactor.current.yield
      Thread.new { task.cancel }
      assert_raises(Pelton::Cancelled) { task.await }
    end
  end

  def test_cancelling_who_awaits_leaves_the_awaited_alone
    Pelton.run do
      task = Pelton.spawn { sleep(0.002) && :value }
      asker = Pelton.spawn { task.await }
      Pelton::Reactor.current.yield
      asker.cancel
      assert_raises(Pelton::Cancelled) { asker.await }

      assert_equal :value, task.await
    end
  end

  def test_a_thousand_tasks_that_nobody_keeps
    Pelton.run do
      1000.times { |i| Pelton.spawn { sleep(0.001) && @log << i } }
      GC.start
    end

    assert_equal (0...1000).to_a, @log.sort
  end

  def test_it_is_made_by_spawn_alone
    assert_raises(TypeError, NoMethodError) { Pelton::Task.new }
    assert_raises(TypeError) { Pelton::Task.allocate }
    assert_raises(Pelton::NotRunningError) { Pelton.spawn {} }
  end

  private

  def fail_here = raise("failed")
end
