# frozen_string_literal: true

module Pelton
  module Cluster
    # What the control socket says of a cluster. Its thread, not the master's, calls these methods: they read no state
    # of the {Supervisor} but its snapshots.
    class Overview
      # Seconds for the workers to answer a question: a little less than the second that Kubernetes waits
      ANSWER_TIMEOUT = 0.95
      STANDSTILL = 10 # seconds after which the master's own loop, which turns once a second, counts as hung

      # The master's own counters as metric families for Prometheus: of each worker, and of all.
      EACH = {
        "up" => Metrics::Family.new("gauge", "pelton_worker_up", "Whether a worker serves."),
        "restarts" => Metrics::Family.new("counter", "pelton_worker_restarts_total",
          "Workers that died and were started again."),
        "memory_replacements" => Metrics::Family.new("counter", "pelton_worker_memory_replacements_total",
          "Workers that were replaced because of their memory."),
        "memory" => Metrics::Family.new("gauge", "pelton_worker_memory_bytes", "Resident memory of a worker.")
      }.freeze
      ALL = {"wanted" => Metrics::Family.new("gauge", "pelton_workers_wanted",
        "How many workers there should be.")}.freeze

      # @param supervisor [#snapshot]
      # @param families [Hash{String => Metrics::Family}] see {Master#initialize}
      def initialize(supervisor, families)
        @supervisor = supervisor
        @families = families
        @purge = Mutex.new
        @purges = 0
      end

      # @return [Hash{Symbol => Proc}] the options of {Control#initialize}
      def answers
        {stats: method(:stats), metrics: method(:metrics), tasks: method(:tasks), live: method(:standstill),
         ready: method(:obstacle), purge: method(:purge)}
      end

      # The state of the master and its workers.
      #
      # @return [Hash{Symbol => Object}]
      def stats
        now = @supervisor.snapshot
        {
          pid: Process.pid, wanted: now.wanted, restarts: now.restarts.values.sum,
          memory_replacements: now.memory_replacements.values.sum,
          workers: now.workers.map do |worker|
            {index: worker.index, pid: worker.pid, ready: worker.ready?, stopping: worker.stopping?,
             memory: Memory.of(worker.pid), stats: worker.stats}
          end
        }
      end

      # The same for Prometheus.
      #
      # @return [String]
      def metrics
        now = @supervisor.snapshot
        Metrics.text(ALL, {{} => {"wanted" => now.wanted}}) +
          Metrics.text(EACH, counters(now).transform_keys { |index| {worker: index} }) +
          Metrics.text(now.workers.map(&:families).reduce(@families, :merge),
            now.totals.transform_keys { |index| {worker: index} })
      end

      # The tasks of the workers by their index; nil for a worker that does not answer within a second.
      #
      # @return [Hash{Integer => Array<Hash>, nil}]
      def tasks
        asked = @supervisor.snapshot.workers.select(&:ready?).each(&:ask_for_tasks)
        wait_for_answers { asked.all?(&:tasks) }
        asked.to_h { |worker| [worker.index, worker.tasks] }
      end

      # Purges the caches of all workers that serve: one that starts has none yet, and one that stops ends with its own.
      #
      # @param path [String] see {HTTP::Server#purge}
      # @return [Hash{Symbol => Integer}, String] how many responses were `purged`; or which workers did not answer
      #   within a second, though they may still do it
      def purge(path)
        @purge.synchronize do
          number = @purges += 1
          asked = @supervisor.snapshot.workers.select(&:ready?).each { |worker| worker.ask_to_purge(number, path) }
          wait_for_answers { asked.all? { |worker| worker.purged&.first == number } }
          silent = asked.reject { |worker| worker.purged&.first == number }
          next {purged: asked.sum { |worker| worker.purged.last }} if silent.empty?
          silent.map { |worker| "worker #{worker.index} does not answer" }.join(", ")
        end
      end

      # Why no requests may come: one worker that is ready is enough.
      #
      # @return [String, nil] nil: they may
      def obstacle
        now = @supervisor.snapshot
        return "it stops" if now.state
        asked = now.workers.select(&:ready?).each(&:ask_for_readiness)
        return "no worker serves yet" if asked.empty?
        wait_for_answers { asked.any? { |worker| worker.readiness == [nil] } || asked.all?(&:readiness) }
        reasons = asked.map do |worker|
          worker.readiness ? worker.readiness.first : "worker #{worker.index} does not answer"
        end
        reasons.first unless reasons.include?(nil)
      end

      # Why the master does not work.
      #
      # @return [String, nil] nil: it works
      def standstill
        stood = Clock.now - @supervisor.snapshot.turned
        "the master has stood still for #{stood.round} s" if stood > STANDSTILL
      end

      private

      def wait_for_answers
        limit = Clock.now + ANSWER_TIMEOUT
        sleep 0.01 until yield || Clock.now > limit
      end

      # The master's own counters by the workers' index.
      def counters(now)
        memory = now.workers.reject(&:stopping?).to_h { |worker| [worker.index, Memory.of(worker.pid)] }
        rows = {"up" => up(now), "restarts" => now.restarts, "memory_replacements" => now.memory_replacements,
                "memory" => memory}
        rows.values.flat_map(&:keys).uniq.sort.to_h do |index|
          [index, rows.transform_values { |row| row[index] }.compact]
        end
      end

      # By index, 1 if the worker serves, and otherwise 0.
      def up(now)
        ready, others = now.workers.partition(&:ready?)
        (0...now.wanted).to_h { |index| [index, 0] }.merge(others.to_h { |worker| [worker.index, 0] },
          ready.to_h { |worker| [worker.index, 1] })
      end
    end
  end
end
