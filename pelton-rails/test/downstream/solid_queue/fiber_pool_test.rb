# frozen_string_literal: true

require_relative "../../support/solid_queue_program"

# Jobs of Solid Queue in fibers of Pelton. What threads do as well is compared with them.
class SolidQueueFiberPoolTest < PeltonTest
  include SolidQueueProgram

  self.deadline = 240

  POOLS = ["threads: 5", "fibers: 50"].freeze

  # The output is the same with threads and with fibers.
  def assert_jobs(expected, code)
    POOLS.each { |pool| assert_equal expected, jobs_output(code.gsub("POOL", pool)), pool }
  end

  def test_jobs_are_done
    assert_jobs "30 marks, 30 finished, 0 failed\n", <<~RUBY
      class MarkJob < ActiveJob::Base
        def perform(number) = (sleep(0.01) && Mark.create!(text: number))
      end
      30.times { |number| MarkJob.perform_later(number) }
      with_worker(POOL) { wait_until { all_done? } }
      puts format("%d marks, %d finished, %d failed", Mark.distinct.count(:text), SolidQueue::Job.finished.count,
        SolidQueue::FailedExecution.count)
    RUBY
  end

  def test_a_failure_is_kept_with_its_error
    assert_jobs "ArgumentError: wrong\n", <<~RUBY
      class FailingJob < ActiveJob::Base
        def perform = raise(ArgumentError, "wrong")
      end
      FailingJob.perform_later
      with_worker(POOL) { wait_until { SolidQueue::FailedExecution.any? } }
      failure = SolidQueue::FailedExecution.first
      puts "\#{failure.exception_class}: \#{failure.message}"
    RUBY
  end

  def test_a_retry_runs_again
    assert_jobs "[1, 2, 3]\n", <<~RUBY
      class RetriedJob < ActiveJob::Base
        retry_on ArgumentError, wait: 0, attempts: 3
        def perform = (Mark.create!(text: executions) && executions < 3 && raise(ArgumentError))
      end
      RetriedJob.perform_later
      with_worker(POOL) { wait_until { Mark.count == 3 } }
      p Mark.order(:id).pluck(:text).map(&:to_i)
    RUBY
  end

  def test_concurrency_controls_let_one_job_run_at_a_time
    assert_jobs "1 at most, 6 done\n", <<~RUBY
      $now = $most = 0
      class AloneJob < ActiveJob::Base
        limits_concurrency key: "one"
        def perform(number)
          $most = [$most, $now += 1].max
          sleep 0.02
          Mark.create!(text: number)
        ensure
          $now -= 1
        end
      end
      6.times { |number| AloneJob.perform_later(number) }
      with_worker(POOL) { wait_until { Mark.count == 6 } }
      puts "\#{$most} at most, \#{Mark.count} done"
    RUBY
  end

  # Whenever the worker is woken, it looks for jobs, by a transaction.
  def test_the_worker_is_woken_once_for_jobs_that_end_together
    output = jobs_output(<<~RUBY)
      gate, ended, wakes = Queue.new, Queue.new, Queue.new
      description = Struct.new(:class_name, :active_job_id, :queue_name).new("Job", "1", "default")
      execution = Struct.new(:job, :work) do
        def perform = work.call
        def failed_with(error) = raise(error)
        def release = nil
        private def finished = nil
      end
      pool = SolidQueue::Pool.build(type: :fiber, size: 50, on_idle: -> { wakes << 1 })
      20.times { pool.post(execution.new(description, -> { gate.pop || ended << 1 })) }
      gate.close
      20.times { ended.pop }
      wakes.pop
      pool.shutdown
      pool.wait_for_termination(5)
      puts "\#{pool.available_capacity} free, woken \#{(wakes.size < 3) ? "once or twice more" : wakes.size}"
    RUBY

    assert_equal "50 free, woken once or twice more\n", output
  end

  def test_jobs_that_wait_run_at_once
    output = jobs_output(<<~RUBY)
      $now = 0
      class GateJob < ActiveJob::Base
        def perform
          $now += 1
          sleep 0.01 until $now == 40 # the jobs wait for each other
        end
      end
      40.times { GateJob.perform_later }
      with_worker(fibers: 50) { wait_until { all_done? } }
      puts $now
    RUBY

    assert_equal "40\n", output
  end

  def test_a_stop_gives_jobs_their_time_and_returns_the_others_to_the_queue
    output = jobs_output(<<~RUBY)
      SolidQueue.shutdown_timeout = 1
      class WaitingJob < ActiveJob::Base
        retry_on(StandardError) { Mark.create!(text: "rescued") }
        def perform(seconds)
          Mark.create!(text: "began")
          sleep seconds
          Mark.create!(text: "ended")
        end
      end
      WaitingJob.perform_later(0.5)
      WaitingJob.perform_later(600)
      with_worker(fibers: 5) { wait_until { Mark.count == 2 } }
      puts Mark.order(:id).pluck(:text)
      puts format("%d claimed, %d ready, %d failed", SolidQueue::ClaimedExecution.count,
        SolidQueue::ReadyExecution.count, SolidQueue::FailedExecution.count)
    RUBY

    assert_equal "began\nbegan\nended\n0 claimed, 1 ready, 0 failed\n", output
  end

  # Released, it would run again for ever.
  def test_a_job_that_waits_for_a_task_which_others_cancel_has_failed
    output = jobs_output(<<~RUBY)
      class AbandonedJob < ActiveJob::Base
        def perform
          task = Pelton.spawn { sleep }
          task.cancel
          task.await
        end
      end
      AbandonedJob.perform_later
      with_worker(fibers: 2) { wait_until { SolidQueue::FailedExecution.any? } }
      puts SolidQueue::FailedExecution.first.exception_class, SolidQueue::ReadyExecution.count
    RUBY

    assert_equal "Pelton::Cancelled\n0\n", output
  end

  def test_a_pool_whose_reactor_has_failed_says_so
    output = jobs_output(<<~RUBY)
      reported = Thread::Queue.new
      SolidQueue.on_thread_error = ->(error) { reported << "reported: \#{error.class}" }
      Thread.report_on_exception = false
      pool = SolidQueue::Pool.build(type: :fiber, size: 2)
      pool.post(Object.new) # no execution: its reactor fails
      puts reported.pop
      wait_until { Thread.list.none? { |thread| thread.name == "pelton-solid-queue" } }
      [-> { pool.post(nil) }, -> { pool.available_capacity }].each do |call|
        call.call
      rescue Pelton::ClosedError => error
        puts error.message
      end
    RUBY

    assert_equal "reported: NoMethodError\n" +
      "the pool's reactor has failed: see the error that was reported before\n" * 2,
      output
  end

  def test_a_pool_that_shuts_down_takes_no_job
    output = jobs_output(<<~RUBY)
      pool = SolidQueue::Pool.build(type: :fiber, size: 2)
      p pool.type, pool.shutdown, pool.shutdown, pool.wait_for_termination(1)
      begin
        pool.post(nil)
      rescue Pelton::ClosedError => error
        puts error.message
      end
    RUBY

    assert_equal ":fiber\ntrue\nfalse\ntrue\nthe pool shuts down, and takes no more jobs\n", output
  end

  def test_a_job_that_blocks_the_others_is_named
    output = jobs_output(<<~RUBY)
      Pelton.watchdog = 0.02
      Pelton.logger = nil
      Pelton.on_stall { |stall| Mark.create!(text: stall.task.name) }
      class BlockingJob < ActiveJob::Base
        def perform = Fiber.new(blocking: true) { sleep 0.2 }.resume
      end
      id = BlockingJob.perform_later.job_id
      with_worker(fibers: 2) { wait_until { Mark.any? } }
      puts Mark.first.text.sub(id, "ID")
    RUBY

    assert_equal "job BlockingJob (ID) of queue default\n", output
  end

  def test_tasks_name_the_jobs
    output = jobs_output(<<~RUBY)
      class NamedJob < ActiveJob::Base
        queue_as :slow
        def perform
          Mark.create!(text: Pelton.tasks.map(&:name).grep(/job/).join)
        end
      end
      id = NamedJob.perform_later.job_id
      with_worker(fibers: 2) { wait_until { all_done? } }
      puts Mark.first.text.sub(id, "ID")
    RUBY

    assert_equal "job NamedJob (ID) of queue slow\n", output
  end
end
