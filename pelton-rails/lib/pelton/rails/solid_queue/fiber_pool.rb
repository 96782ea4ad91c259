# frozen_string_literal: true

require "solid_queue"
require "pelton/tasks/list"
require_relative "running_jobs"

module Pelton
  module Rails
    module SolidQueue
      # The pool of a worker with `fibers: N`, as Solid Queue 1.7 builds it: at most N jobs at once, each in a task of
      # one reactor, which runs on a thread of its own.
      #
      # At a stop, jobs have Solid Queue's `shutdown_timeout` to end. The others are cancelled then, and their
      # executions go back to the queue.
      class FiberPool < ::SolidQueue::Pool
        # Seconds for cancelled jobs to end.
        GRACE = 5
        private_constant :GRACE

        # Solid Queue asks for a pool by its type, and checks that async is there for it.
        module Choice
          def build(type:, size:, **callbacks) = (type.to_sym == :fiber) ? FiberPool.new(size, **callbacks) : super
        end

        # A worker on Pelton needs no gem.
        module Requirements
          private

          def ensure_fiber_workers_have_required_dependency = nil
        end

        # A job that the pool has cancelled has neither succeeded nor failed: it is for another worker. One that has
        # come to its end is not: what was cancelled was the record of it, which is made again. It is for the class of
        # executions: methods of one object's own class are found anew for each object.
        module Release
          attr_writer :pelton_pool

          def failed_with(error) = released_by_pool?(error) ? release : super

          private

          def finished
            super
          rescue Cancelled => error
            raise unless released_by_pool?(error)
            super
          end

          def released_by_pool?(error) = @pelton_pool&.cancelled?(error)
        end
        private_constant :Choice, :Requirements, :Release

        def self.install
          ::SolidQueue::Pool.singleton_class.prepend(Choice)
          ::SolidQueue::Configuration.prepend(Requirements)
        end

        def initialize(size, on_idle: nil, **callbacks)
          super(size, on_idle: (-> { wake_worker } if on_idle), **callbacks)
          @wake = on_idle
          @executions = Thread::Queue.new
          @started = Thread::Queue.new # gets the reactor
          @running = RunningJobs.new
          warn_of_isolation
          Pelton.logger&.info("Solid Queue's worker runs #{size} jobs at once in fibers, on Pelton")
        end

        # How Solid Queue shows this pool.
        def type = :fiber

        # @raise [ClosedError] after {#shutdown}, or when its reactor has failed
        def post(execution)
          raise ClosedError, "the pool shuts down, and takes no more jobs" if shutdown?
          refuse_if_failed
          super
        end

        # @raise [ClosedError] when its reactor has failed: then Solid Queue reports it, and the worker claims no more
        #   jobs
        def available_capacity
          refuse_if_failed
          super
        end

        # @private
        # Whether this is how the pool ends jobs that have not ended in time. A job may also have waited for a task that
        # others have cancelled.
        def cancelled?(error) = @cancels && Cancelled === error

        # Takes no more jobs.
        # @return [Boolean] false if it did not take any before
        def shutdown
          return false if shutdown?
          @executions.close
          true
        end

        def shutdown? = @executions.closed?

        # Waits for the running jobs, and cancels those that have not ended in time.
        #
        # @param timeout [Numeric] seconds
        # @return [Boolean] whether all have ended by themselves
        def wait_for_termination(timeout)
          return true if @thread.nil? || @thread.join(timeout)
          @cancels = true
          @started.pop.next_tick { Pelton.stop }
          @thread.join(GRACE * 2)
          false
        end

        private

        # The thread begins with the first job: workers are built before their processes are forked.
        def schedule(execution)
          @thread ||= create_thread { run_jobs }
          @executions << execution
        end

        def name = "pelton-solid-queue"

        # A job has ended, so the worker may claim another one: by a transaction. It is woken once for all jobs that end
        # until everything that is ready to run now has run.
        def wake_worker
          return @wake.call unless Pelton.running?
          return if @wakes
          @wakes = true
          Pelton.next_tick do
            @wakes = false
            @wake.call
          end
        end

        def run_jobs
          Pelton.run(grace: GRACE) do
            @started << Reactor.current
            @running.start
            while (execution = @executions.pop)
              start(execution)
            end
          end
        ensure
          @running.stop
        end

        def warn_of_isolation
          return if ::ActiveSupport::IsolatedExecutionState.isolation_level == :fiber
          Pelton.logger&.warn("jobs in fibers see each other's state (Current, database connections): set " \
            "config.active_support.isolation_level = :fiber")
        end

        def refuse_if_failed
          if @thread && !@thread.alive? && !shutdown?
            raise ClosedError, "the pool's reactor has failed: see the error that was reported before"
          end
        end

        def start(execution)
          execution.class.prepend(Release) unless Release === execution
          execution.pelton_pool = self
          Pelton.spawn(name: "#{description(execution.job)} of queue #{execution.job.queue_name}") do
            perform_execution(execution)
          end
        end

        def description(job) = "job #{job.class_name} (#{job.active_job_id})"

        # A job that the pool has cancelled was released, and another worker takes it. So nothing is wrong.
        def perform_execution(execution)
          @running.run(execution.job) { wrap_in_app_executor { execution.perform } }
        rescue Exception => error # standard:disable Lint/RescueException
          if cancelled?(error)
            @running.released
            Pelton.logger&.info("#{description(execution.job)} was released: it had not ended when the worker stopped")
          else
            handle_unrecoverable_error(error)
            handle_thread_error(error)
          end
        ensure
          restore_capacity
        end
      end
    end
  end
end
