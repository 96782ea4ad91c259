# frozen_string_literal: true

require "pelton"

module Pelton
  module Rails
    module SolidQueue
      # The jobs that a worker's pool runs: as metrics, on a control socket of the worker's own, and in the log if one
      # keeps a database connection while it waits.
      class RunningJobs
        FAMILIES = {
          "jobs_running" => Metrics::Family.new("gauge", "pelton_jobs_running", "Jobs that run.", %w[class queue]),
          "jobs_oldest" => Metrics::Family.new("gauge", "pelton_jobs_oldest_seconds",
            "Age of the oldest job that runs."),
          "jobs_ended" => Metrics::Family.new("counter", "pelton_jobs_ended_total",
            "Jobs that have run to their end, failed ones among them."),
          "jobs_released" => Metrics::Family.new("counter", "pelton_jobs_released_total",
            "Jobs that went back to the queue at a stop.")
        }.freeze
        # Seconds between two looks for kept connections, and how long a job may keep one while it waits.
        LOOK = 5
        private_constant :LOOK

        class << self
          # The address of the workers' control sockets, with %d for the process; nil: they have none.
          # @return [String, nil]
          attr_accessor :control
        end

        def initialize
          @lock = Mutex.new
          @began = {}.compare_by_identity # by the job
          @ended = @released = 0
          @told = {}
        end

        # Called in the pool's reactor.
        def start
          @source = Metrics.add(FAMILIES) { stats }
          @control = open_control(Reactor.current) if RunningJobs.control
          if defined?(ActiveRecord::ConnectionHolders)
            Pelton.spawn(name: "look for kept connections", transient: true, detached: true) do
              loop { sleep(LOOK) && look }
            end
          end
        end

        def stop
          Metrics.remove(@source)
          @control&.close
        end

        # @param job [SolidQueue::Job]
        def run(job)
          @lock.synchronize { @began[job] = Clock.now }
          yield
        ensure
          @lock.synchronize { @began.delete(job) && @ended += 1 }
        end

        def released = @lock.synchronize { @released += 1 }

        # @return [Hash{String => Object}] for {Metrics.add}
        def stats
          began, ended, released = @lock.synchronize { [@began.to_a, @ended, @released] }
          running = began.map { |job, _| "#{job.class_name} #{job.queue_name}" }.tally
          {"jobs_running" => running, "jobs_oldest" => (Clock.now - (began.map(&:last).min || Clock.now)).round(3),
           "jobs_ended" => ended, "jobs_released" => released}
        end

        # Names each job that keeps a connection while it waits, once for each place.
        def look(seconds = LOOK)
          ActiveRecord::ConnectionHolders.waiting(seconds, /\Ajob /).each do |task, held|
            place = held[/at (.*)/, 1]
            next if @told[place]
            @told[place] = true
            Pelton.logger&.warn("#{task.name} keeps a database connection while it waits, #{held}: other jobs may " \
              "lack one. End the transaction before the wait")
          end
        end

        private

        def open_control(reactor)
          require "pelton/control"
          address = format(RunningJobs.control, Process.pid)
          stats = -> { reactor.stats.merge(Metrics.stats) }
          Control.new(address, stats: stats, metrics: -> { Metrics.text(Metrics.families, {{} => Metrics.stats}) },
            tasks: -> { TaskList.of(reactor) },
            live: -> { Control.in_reactor(reactor) { nil } })
        rescue SystemCallError, ArgumentError => error
          Pelton.logger&.error("the worker has no control socket: #{error.message}")
          nil
        end
      end
    end
  end
end
