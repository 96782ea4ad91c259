# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "pelton"
require "set"

class TaskTest < PeltonTest
  include EventLog

  def setup
    super
    log_errors
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

  # Kernel#tap is one of them.
  def test_methods_of_ruby_that_are_written_in_ruby_have_their_callers_places
    Pelton.run do
      waiting, line = Pelton.spawn { tap { sleep } }, __LINE__
      sleep 0

      assert_equal ["#{__FILE__}:#{line}"], waiting.backtrace.map { |place| place[/\A.*?:\d+/] }.uniq
      waiting.cancel
    end
  end

  def test_tasks_begin_in_order
    Pelton.run { 5.times { |i| Pelton.spawn { @log << i } } }

    assert_equal [0, 1, 2, 3, 4], @log
  end

  def test_await_returns_the_value_to_every_caller
    Pelton.run do
      task = Pelton.spawn { sleep(0.001) && :value }
      askers = Array.new(3) { Pelton.spawn { task.await } }

      assert_equal %i[value value value value], askers.map(&:await) << task.await
    end
  end

  def test_await_raises_the_error_in_every_caller_with_the_backtrace_of_the_task
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
    assert_empty @log # a caller has handled the error
  end

  def test_an_error_that_nobody_awaits_is_not_silent
    Pelton.run { Pelton.spawn { raise "alone" } }

    assert_equal ["alone"], @log
  end

  # ---- transient tasks, names ----------------------------------------------------------------------------------------

  def test_a_transient_task_does_not_keep_run_going
    value = Pelton.run do
      Pelton.spawn(transient: true) do
        loop { sleep(0.001) && @log << :beat }
      ensure
        sleep 0.001
        @log << :ensured
      end
      Pelton.spawn(transient: true) { Queue.new.pop }
      Pelton.spawn { sleep(0.005) && @log << :ordinary }
      :value
    end

    assert_equal :value, value
    assert_equal :ensured, @log.last
    assert_includes @log, :ordinary
    assert_includes @log, :beat
  end

  def test_run_ends_with_a_transient_task_alone
    Pelton.run { Pelton.spawn(transient: true) { sleep } && nil }
    assert Pelton.run { Pelton.spawn(transient: true) { sleep }.transient? }
  end

  def test_tasks_and_what_they_say
    lock = Mutex.new
    Pelton.run do
      abandoned = Pelton.tasks - [Pelton::Task.current] # by tests of stop
      lock.lock
      waiting = Pelton.spawn(name: :waiting) { lock.synchronize {} }
      sleep 0
      queued = Pelton.spawn { 1 }
      main = Pelton::Task.current

      assert_equal [main, waiting].to_set, (Pelton.tasks - abandoned).first(2).to_set # in any order
      assert_equal queued, Pelton.tasks.last
      assert_equal %i[running waiting queued], [main, waiting, queued].map(&:activity)
      expected =
        /\A#<Pelton::Task "waiting" waiting from .*task_test.rb:\d+ at .*task_test.rb:\d+:in .*synchronize'>\z/
      assert_match expected, waiting.inspect
      assert_match(/\A#<Pelton::Task queued from .*task_test.rb:\d+>\z/, queued.inspect)
      assert_nil queued.backtrace
      assert_nil queued.age # it has no name
      assert_operator waiting.age, :>, 0
      assert_includes Thread.new(Pelton::Reactor.current) { |reactor| reactor.tasks }.value, waiting
      lock.unlock
      [waiting, queued].each(&:await)

      assert_equal "waiting", waiting.name
      assert_equal "#<Pelton::Task \"waiting\" succeeded>", waiting.inspect
      assert_nil queued.name
      assert_nil queued.origin
    end

    assert_empty Pelton.tasks
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
      task = Pelton.spawn do
        [Pelton::Task.current, sleep(0.001), Pelton::Task.current, Fiber.new { Pelton::Task.current }.resume]
      end
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

  def test_a_task_that_has_not_begun_when_the_reactor_stops_is_cancelled
    told = []
    Pelton.run do
      task = Pelton.spawn { told << :began }
      task.errback { |error| told << error.class }
      Pelton.stop
    end

    assert_equal [Pelton::Cancelled], told
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

  # Otherwise the rest of the block would be skipped silently.
  def test_runs_block_that_awaits_a_cancelled_task
    error = assert_raises(Pelton::Cancelled) do
      Pelton.run do
        task = Pelton.spawn { sleep }
        task.cancel
        task.await
      end
    end

    assert_match(/the task was cancelled/, error.message)
    # A stop is not an error
    assert_equal :stopped, Pelton.run { Pelton.add_timer(0.001) { Pelton.stop(:stopped) } && sleep }
  end

  def test_cancel_when_it_is_done
    Pelton.run do
      task = Pelton.spawn { 1 }
      task.await

      refute task.cancel
      assert_equal 1, task.await
    end
  end

  # A trap handler runs wherever Ruby code is called, also while Cancelled is made. This one waits until the task has
  # ended.
  def test_a_task_ends_while_its_cancel_makes_the_exception
    assert_equal "false\n:done\n", ruby_output(<<~RUBY)
      require "pelton"
      Pelton::Cancelled.prepend(Module.new do
        def initialize(...)
          sleep 0.001 until $task.done?
          super
        end
      end)
      Pelton.run do
        $task = Pelton.spawn { sleep(0.01) && :done }
        sleep 0
        p $task.cancel, $task.await
      end
    RUBY
  end

  def test_cancel_oneself
    Pelton.run do
      task = Pelton.spawn { Pelton::Task.current.cancel && @log << :never }
      assert_raises(Pelton::Cancelled) { task.await }
    end

    assert_empty @log
  end

  def test_cancel_of_a_task_that_is_ready
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

  # Ruby cannot raise in a fiber that has resumed another one: the exception strikes the task when it waits itself.
  def test_cancel_of_a_task_that_has_resumed_a_fiber
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

  def test_a_task_that_swallows_a_cancel_goes_on
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

  def test_cancelling_is_not_reported_as_an_error
    Pelton.run do
      task = Pelton.spawn { sleep }
      Pelton::Reactor.current.yield
      task.cancel
    end

    assert_empty @log
  end

  def test_an_error_of_an_ensure_block_is_reported
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

  def test_cancelling_an_awaiting_task_does_not_cancel_the_awaited_one
    Pelton.run do
      task = Pelton.spawn { sleep(0.002) && :value }
      asker = Pelton.spawn { task.await }
      Pelton::Reactor.current.yield
      asker.cancel
      assert_raises(Pelton::Cancelled) { asker.await }

      assert_equal :value, task.await
    end
  end

  def test_a_thousand_tasks_without_references
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
