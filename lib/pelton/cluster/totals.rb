# frozen_string_literal: true

module Pelton
  module Cluster
    # What the workers of each seat have counted, those that have ended included: so no counter goes backwards when a worker is
    # replaced, nor is one there twice while the old and the new one serve.
    class Totals
      # @param counters [Array<String>] the figures that only grow. All others end with their worker
      def initialize(counters)
        @counters = counters
        @past = {}
      end

      # A worker has ended.
      def retire(worker)
        @past[worker.index] = sum(@past[worker.index] || {}, worker.stats.slice(*@counters))
      end

      # @param workers [Array<Worker>] those that have not ended
      # @return [Hash{Integer => Hash}] figures by seat
      def with(workers)
        workers.each_with_object(@past.dup) { |worker, all| all[worker.index] = sum(all[worker.index] || {}, worker.stats) }
      end

      private

      def sum(one, other)
        one.merge(other) { |_, mine, theirs| mine.is_a?(Hash) ? sum(mine, theirs) : mine + theirs }
      end
    end
  end
end
