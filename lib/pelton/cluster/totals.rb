# frozen_string_literal: true

require_relative "../metrics"

module Pelton
  module Cluster
    # The stats of the workers by index, including workers that have ended. So no counter goes backwards when a worker
    # is replaced, and none appears twice while the old and the new worker serve.
    class Totals
      # @param counters [Array<String>] the names of stats that only grow. All others end with their worker
      def initialize(counters)
        @counters = counters
        @past = {}
      end

      # Adds the counters of a worker that has ended.
      def retire(worker)
        @past[worker.index] = sum(@past[worker.index] ||
          {}, worker.stats.slice(*@counters, *Metrics.counters(worker.families)))
      end

      # @param workers [Array<Worker>] the running workers
      # @return [Hash{Integer => Hash}] stats by the workers' index
      def with(workers)
        workers.each_with_object(@past.dup) do |worker, all|
          all[worker.index] = sum(all[worker.index] || {}, worker.stats)
        end
      end

      private

      def sum(one, other) = one.merge(other) { |_, mine, theirs| mine.is_a?(Hash) ? sum(mine, theirs) : mine + theirs }
    end
  end
end
