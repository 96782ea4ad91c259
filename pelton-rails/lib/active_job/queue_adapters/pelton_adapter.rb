# frozen_string_literal: true

require "pelton"
require "active_job"

module ActiveJob
  module QueueAdapters
    # Runs jobs in fibers of the process that enqueues them, instead of the threads of `:async`:
    #
    #     config.active_job.queue_adapter = :pelton
    #
    # When the server stops, running and waiting jobs have the rest of `shutdown_timeout` to finish. Delayed jobs
    # (`set(wait:)`, `retry_on`) and unfinished ones are then lost, and logged with their class and id; if the process
    # dies, all are lost. Use Solid Queue, GoodJob or Sidekiq for jobs you cannot lose. Jobs from other threads of a
    # server (Action Cable, ActionController::Live) run with the others. Without a server or a reactor (a console, a
    # rake task), `:async` runs the jobs.
    class PeltonAdapter
      # Jobs that run at once in a process.
      CONCURRENCY = 10
      # Jobs that wait in a process, including delayed ones.
      QUEUE = 10_000

      # @param concurrency [Integer]
      # @param queue [Integer] beyond it, `perform_later` fails with ActiveJob::EnqueueError
      def initialize(concurrency: CONCURRENCY, queue: QUEUE)
        @work = Pelton::Background.new(concurrency: concurrency, queue: queue)
      end

      # @return [Boolean] whether a job is enqueued only when the surrounding transaction commits
      def enqueue_after_transaction_commit? = true

      # @return [Boolean] whether jobs should stop early and continue later (ActiveJob::Continuable): never, because
      #   they would be lost
      def stopping? = false

      # @raise [ActiveJob::EnqueueError] if too many jobs wait, or the server is stopping
      def enqueue(job) = Pelton::Background.available? ? start(job, 0) : threads.enqueue(job)

      # @raise [ActiveJob::EnqueueError] if too many jobs wait, or the server is stopping
      def enqueue_at(job, timestamp)
        Pelton::Background.available? ? start(job, timestamp - Time.now.to_f) : threads.enqueue_at(job, timestamp)
      end

      # @return [Integer] number of running and waiting jobs
      def size = @work.size

      private

      # Serializes the job, like an adapter with a store, so that one that cannot be serialized fails at once.
      def start(job, delay)
        job.provider_job_id = SecureRandom.uuid
        data = job.serialize
        name = "job #{job.class.name} (#{job.job_id})"
        @work.run(name, after: delay) { Base.execute(data) }
      rescue Pelton::Error => error
        # Retry_on does not check the result
        Pelton.logger.warn("#{name} is refused: #{error.message}") if error.is_a?(Pelton::ClosedError)
        raise EnqueueError, "#{name} is refused: #{error.message}"
      end

      def threads = @threads ||= AsyncAdapter.new
    end
  end
end
