# frozen_string_literal: true

module Pelton
  module Lab
    # The comparisons of one race with one pinning, one for each latency. Finds the points at which contenders overtake
    # the baseline.
    class LatencySweep
      attr_reader :comparisons

      # @return [Array<LatencySweep>] in the comparisons' order
      def self.of(comparisons)
        comparisons.chunk_while { |one, next_one| [one.race, one.pin] == [next_one.race, next_one.pin] }.map do |group|
          new(group)
        end
      end

      def initialize(comparisons)
        @comparisons = comparisons
      end

      def race = comparisons.first.race

      def pin = comparisons.first.pin

      # Whether several latencies were measured.
      def several?
        measured.size > 1
      end

      # The comparisons with measurements.
      def measured
        comparisons.reject(&:skipped).select { |comparison| comparison.results.any?(&:measured?) }
      end

      # The names of the measured contenders, without the baseline.
      def rivals
        measured.flat_map do |comparison|
          (comparison.results - [comparison.reference]).select(&:measured?).map(&:name)
        end.uniq
      end

      # The latency from which on a contender stays faster than the baseline, interpolated between two measured ones.
      # @return [Float, nil] milliseconds; nil: it is not faster at the longest latency, or there is nothing to compare
      def overtakes(name)
        curve = measured.filter_map do |comparison|
          comparison[name]&.then { |result| comparison.ratio(result) }&.then { |ratio| [comparison.latency, ratio] }
        end
        crossing(curve)
      end

      # The number of operations at once from which on a contender stays faster than the baseline, in one comparison.
      # @return [Float, nil] nil: it is not faster with the largest number
      def overtakes_at(comparison, name)
        curve = race.points.numbers.filter_map do |number|
          point(comparison, name, number)&.then { |ratio| [Math.log(number), ratio] }
        end
        crossing(curve)&.then { |log| Math.exp(log) }
      end

      # The ratio at one of the race's points, or nil.
      def point(comparison, name, number)
        comparison[name]&.then { |result| comparison.ratio(result, number.to_s.to_sym) }
      end

      private

      # The x at which a curve of [x, ratio] falls below one for good.
      def crossing(curve)
        return if curve.empty? || curve.last[1] >= 1
        below = curve.reverse.take_while { |_, ratio| ratio < 1 }.last
        above = curve[curve.index(below) - 1] if curve.index(below) > 0
        return below[0].to_f unless above
        share = Math.log(above[1]) / (Math.log(above[1]) - Math.log(below[1]))
        above[0] + share * (below[0] - above[0])
      end
    end
  end
end
