# frozen_string_literal: true

require_relative "../../support/solid_queue_program"

# What can be seen of the jobs that a worker runs.
class SolidQueueRunningJobsTest < PeltonTest
  include SolidQueueProgram

  self.deadline = 120

  JOB = <<~RUBY
    class SlowJob < ActiveJob::Base
      queue_as :slow
      def perform = sleep
    end
    SolidQueue.shutdown_timeout = 0.1
    def families = Pelton::Metrics.stats
  RUBY

  def test_metrics_count_the_jobs
    output = jobs_output(JOB + <<~RUBY)
      class QuickJob < ActiveJob::Base
        def perform = nil
      end
      2.times { SlowJob.perform_later }
      QuickJob.perform_later
      with_worker(fibers: 5) do
        wait_until { families["jobs_ended"] == 1 && families["jobs_running"] == {"SlowJob slow" => 2} }
        puts families["jobs_oldest"].positive?,
          Pelton::Metrics.text(Pelton::Metrics.families, {{} => families}).lines.grep(/^pelton_jobs_(running|ended)/)
      end
      puts families.key?("jobs_running")
    RUBY

    assert_equal <<~TEXT, output
      true
      pelton_jobs_running{class="SlowJob",queue="slow"} 2
      pelton_jobs_ended_total 1
      false
    TEXT
  end

  # As a production's operator asks: `pelton status tmp/jobs-123.sock`.
  def test_a_control_socket_shows_each_job_with_its_age_and_what_it_waits_for
    output = jobs_output(JOB + <<~RUBY, config: "config.pelton.jobs_control = 'unix://jobs-%d.sock'")
      require "pelton/command"
      id = SlowJob.perform_later.job_id
      with_worker(fibers: 5) do
        wait_until { families["jobs_running"]&.any? }
        terminal, $stdout = $stdout, StringIO.new
        wait_until { Pelton::Command.run(["status", "jobs-\#{Process.pid}.sock"]) && $stdout.string.include?("sleep'") }
        terminal.puts $stdout.string
        $stdout = terminal
      end
      puts Dir["*.sock"].size, id
    RUBY
    *status, sockets, id = output.lines(chomp: true)

    assert_match(/^task "job SlowJob \(#{id}\) of queue slow" waiting for \S+ s from .*\n    -e:\d+:in .*sleep'\n    -e:\d+:in .*perform'$/,
      status.join("\n"))
    assert_includes status, "  SlowJob slow: 1"
    assert_equal "0", sockets
  end

  def test_a_worker_without_its_control_socket_says_why
    output = jobs_output(JOB + <<~RUBY, config: "config.pelton.jobs_control = 'unix:///no/such/folder/%d.sock'")
      Pelton.logger = Logger.new($stdout, formatter: ->(severity, _, _, text) { "\#{severity} \#{text}\n" })
      SlowJob.perform_later
      with_worker(fibers: 5) { wait_until { families["jobs_running"]&.any? } }
    RUBY

    assert_match(%r{^ERROR the worker has no control socket: .*/no/such/folder}, output)
  end

  def test_a_job_that_keeps_a_connection_while_it_waits_is_named_once_with_its_line
    output = jobs_output(<<~RUBY)
      Pelton.logger = Logger.new($stdout, formatter: ->(severity, _, _, text) { "\#{severity} \#{text}\n" })
      class KeepingJob < ActiveJob::Base
        def perform = ActiveRecord::Base.connection_pool.with_connection do |connection|
          connection.select_value("SELECT 1") && sleep
        end
      end
      class WaitingJob < ActiveJob::Base
        def perform = Mark.first || sleep
      end
      JOBS = Pelton::Rails::SolidQueue::RunningJobs.new
      class LookingJob < ActiveJob::Base
        def perform
          sleep 0.01 until Pelton::Metrics.stats["jobs_running"].size == 3
          sleep 0.2 # they have kept it for longer than 0.05 s
          2.times { JOBS.look(0.05) }
        end
      end
      SolidQueue.shutdown_timeout = 0.1
      [WaitingJob, KeepingJob, LookingJob].each(&:perform_later)
      with_worker(fibers: 5) { wait_until { SolidQueue::Job.finished.any? } }
    RUBY
    named = output.lines.grep(/keeps a database connection/)

    assert_equal 1, named.size, output
    assert_match(/^WARN job KeepingJob \(\S+\) of queue default keeps a database connection while it waits, for \S+ s, at -e:\d+:in .*sleep/,
      named.first)
  end

  def test_a_state_that_is_kept_by_thread_is_told
    output = jobs_output(<<~RUBY)
      Pelton.logger = Logger.new($stdout, formatter: ->(severity, _, _, text) { "\#{severity} \#{text}\n" })
      ActiveSupport::IsolatedExecutionState.isolation_level = :thread
      SolidQueue::Worker.new(queues: "*", fibers: 2).pool
    RUBY

    assert_match(/^WARN jobs in fibers see each other's state .*isolation_level = :fiber$/, output)
  end
end
