# frozen_string_literal: true

require_relative "../support/solid_queue_program"

# `pelton_timeout`, with Solid Queue and with the adapter :pelton.
class JobLimitsTest < PeltonTest
  include SolidQueueProgram

  self.deadline = 120

  JOB = <<~RUBY
    class LateJob < ActiveJob::Base
      pelton_timeout 0.05
      retry_on(Pelton::TimeoutError, wait: 0, attempts: 2) do |job, error|
        Mark.create!(text: "\#{job.executions} tries: \#{error.class}")
      end
      def perform = sleep(600)
    end
    class OtherJob < ActiveJob::Base
      def perform = sleep(600)
    end
  RUBY

  def test_a_job_that_waits_for_longer_fails_and_is_retried
    output = jobs_output(<<~RUBY)
      #{JOB}
      LateJob.perform_later
      with_worker(fibers: 2) { wait_until { Mark.any? } }
      puts Mark.first.text
    RUBY

    assert_equal "2 tries: Pelton::TimeoutError\n", output
  end

  def test_a_job_that_sets_none_has_the_applications_limit
    output = jobs_output(<<~RUBY, config: "config.pelton.job_timeout = 0.05")
      #{JOB}
      OtherJob.perform_later
      with_worker(fibers: 2) { wait_until { SolidQueue::FailedExecution.any? } }
      puts SolidQueue::FailedExecution.first.exception_class
    RUBY

    assert_equal "Pelton::TimeoutError\n", output
  end

  def test_the_adapter_of_pelton_has_limits_too
    output = rails_output(<<~RUBY, setup: APPLICATION + DATABASE)
      #{JOB.sub(/Mark.create!\(text: (.*)\)$/, 'puts($text = \1)')}
      LateJob.queue_adapter = :pelton
      Pelton.run do
        LateJob.perform_later
        sleep 0.01 until $text
      end
    RUBY

    assert_equal "2 tries: Pelton::TimeoutError\n", output
  end

  def test_without_fibers_there_is_no_limit
    output = rails_output(<<~RUBY)
      TestApplication.initialize!
      class ShortJob < ActiveJob::Base
        pelton_timeout 0.001
        def perform = (sleep 0.05) && puts("ended")
      end
      ShortJob.perform_now
    RUBY

    assert_equal "ended\n", output
  end

  def test_a_limit_is_more_than_zero
    output = rails_output(<<~RUBY)
      TestApplication.initialize!
      [0, -1, "60", nil].each do |limit|
        Class.new(ActiveJob::Base) { pelton_timeout limit }
        puts "\#{limit.inspect} is taken"
      rescue ArgumentError => error
        puts error.message
      end
    RUBY

    assert_equal "#{"pelton_timeout must be more than 0 seconds, or nil\n" * 3}nil is taken\n", output
  end
end
