# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/event_log"
require "pelton"

# When the error of a task is reported, and when it is not.
class TaskFailureTest < PeltonTest
  include EventLog

  def setup
    super
    log_errors
  end

  def test_an_error_that_somebody_awaits_later_is_not_reported
    Pelton.run do
      tasks = Array.new(3) { |i| Pelton.spawn { sleep((3 - i) / 1000.0) && raise("task #{i}") } }
      messages = tasks.map { |task| assert_raises(RuntimeError) { task.await }.message }

      assert_equal ["task 0", "task 1", "task 2"], messages
      GC.start
    end
    GC.start

    assert_empty @log
  end

  def test_an_error_is_reported_when_the_task_is_collected
    Pelton.run do
      100.times { |i| Pelton.spawn { raise "task #{i}" } }
      sleep 0.001

      assert_empty @log
      # A few may still be found on the stack, on Ruby 3.4 sometimes all
      eventually("a report") { GC.start || @log.any? }
    end

    assert_equal Array.new(100) { |i| "task #{i}" }.sort, @log.sort
  end

  def test_the_collector_wakes_an_idle_loop_for_its_reports
    Pelton.run do
      10.times { Pelton.spawn { raise "in a task" } }
      reported = Pelton::Operation.new
      Pelton.on_error { reported.succeed }
      collector = Thread.new { sleep(0.001) && GC.start until reported.done? }
      reported.await(timeout: 10)
      collector.join
    end
  end

  def test_an_error_is_reported_when_the_run_is_stopped
    Pelton.run do
      task = Pelton.spawn { raise "stopped" }
      sleep 0.001
      Pelton.stop(task)
    end

    assert_equal ["stopped"], @log
  end

  def test_on_error_may_go_on_with_the_run
    Pelton.on_error { |error| Pelton.spawn { sleep(0.001) && @log << error.message } }
    Pelton.run { Pelton.spawn { raise "in a task" } && nil }

    assert_equal ["in a task"], @log
  end

  def test_an_error_that_on_error_raises_at_the_end_leaves_run
    Pelton.on_error { |error| raise error }
    {"ends" => -> {}, "stops" => -> { Pelton.stop }}.each do |message, finish|
      error = assert_raises(RuntimeError) do
        Pelton.run { Pelton.spawn { raise message } && sleep(0.001) && finish.call }
      end

      assert_equal message, error.message
    end
  end

  def test_the_error_of_a_detached_task_is_reported_at_once
    Pelton.run do
      task = Pelton.spawn(detached: true) { raise "detached" }
      sleep 0.001

      assert_equal ["detached"], @log
      assert_predicate task, :done?
    end
  end

  def test_a_childs_report_leaves_out_the_parents_tasks
    reader, writer = IO.pipe
    Pelton.run do
      task = Pelton.spawn { raise "parent" }
      sleep 0.001
      pid = fork do
        Pelton.on_error { |error| writer.write(error.message) }
        Pelton.run { Pelton.spawn { raise "child" } && nil }
        exit!
      end
      writer.close
      assert_equal "child", reader.read
      Process.wait(pid)
      assert_raises(RuntimeError) { task.await }
    end

    assert_empty @log
  ensure
    reader.close
  end
end
