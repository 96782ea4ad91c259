# frozen_string_literal: true

require "pelton"
require "active_job"

module ActiveJob
  module QueueAdapters
    # Runs jobs in fibers of the process that enqueues them, instead of the threads of `:async`:
    #
    #     config.active_job.queue_adapter = :pelton
    #
    # When the server stops, jobs that run or wait for their turn have the rest of `shutdown_timeout` to end. Jobs with a later time (`set(wait:)`,
    # `retry_on`) and whatever has not ended by then are lost, as are all when the process dies; each one that a stop loses is logged with its class and
    # id. What must not be lost belongs into Solid Queue, GoodJob or Sidekiq. Jobs of other threads of a server (Action Cable, ActionController::Live) run
    # with the others. Where no server and no reactor runs (a console, a rake task), `:async` takes the jobs.
    class PeltonAdapter
      # Jobs that run at once in a process.
      LIMIT = 10
      # Jobs that wait in a process, those with a time of their own included.
      QUEUE = 10_000

      # @param limit [Integer]
      # @param queue [Integer] beyond, `perform_later` fails with ActiveJob::EnqueueError
      def initialize(limit: LIMIT, queue: QUEUE)
        @work = Pelton::Background.new(limit: limit, queue: queue)
      end

      # @return [Boolean] whether a job is enqueued only when the transaction that surrounds it is committed
      def enqueue_after_transaction_commit? = true

      # @return [Boolean] whether jobs shall end early, to be continued later (ActiveJob::Continuable): never, for they would be lost
      def stopping? = false

      # @raise [ActiveJob::EnqueueError] too many jobs wait, or the server stops
      def enqueue(job)
        Pelton::Background.available? ? start(job, 0) : threads.enqueue(job)
      end

      # @raise [ActiveJob::EnqueueError] too many jobs wait, or the server stops
      def enqueue_at(job, timestamp)
        Pelton::Background.available? ? start(job, timestamp - Time.now.to_f) : threads.enqueue_at(job, timestamp)
      end

      # @return [Integer] jobs that run or wait
      def size = @work.size

      private

      # Serialized, as by an adapter with a store: a job that cannot be serialized fails at once.
      def start(job, delay)
        job.provider_job_id = SecureRandom.uuid
        data = job.serialize
        name = "job #{job.class.name} (#{job.job_id})"
        @work.run(name, after: delay) { Base.execute(data) }
      rescue Pelton::Error => error
        Pelton.logger.warn("#{name} is refused: #{error.message}") if error.is_a?(Pelton::ClosedError) # retry_on does not look at the result
        raise EnqueueError, "#{name} is refused: #{error.message}"
      end

      def threads = @threads ||= AsyncAdapter.new
    end
  end
end
