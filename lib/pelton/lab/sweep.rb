# frozen_string_literal: true

module Pelton
  module Lab
    # The heats of one race in one pinning: one, or one for each latency. It says where contenders overtake the baseline.
    class Sweep
      attr_reader :heats

      # @return [Array<Sweep>] in the heats' order
      def self.of(heats)
        heats.chunk_while { |one, next_one| [one.race, one.pin] == [next_one.race, next_one.pin] }.map { |group| new(group) }
      end

      def initialize(heats)
        @heats = heats
      end

      def race = heats.first.race

      def pin = heats.first.pin

      # Whether there is more than one latency to compare.
      def several?
        measured.size > 1
      end

      # The heats that were run.
      def measured
        heats.reject(&:skipped).select { |heat| heat.results.any?(&:measured?) }
      end

      # Names of those that were measured somewhere and are not the baseline.
      def rivals
        measured.flat_map { |heat| (heat.results - [heat.reference]).select(&:measured?).map(&:name) }.uniq
      end

      # From which latency on a contender is faster than the baseline at every longer one that was measured, too: between two
      # that were measured by interpolation.
      # @return [Float, nil] milliseconds; nil: nowhere, or there is nothing to compare
      def overtakes(name)
        curve = measured.filter_map { |heat| heat[name]&.then { |result| heat.ratio(result) }&.then { |ratio| [heat.latency, ratio] } }
        crossing(curve)
      end

      # From how many at once on a contender is faster than the baseline, in one heat.
      # @return [Float, nil] nil: never
      def overtakes_at(heat, name)
        curve = race.points.numbers.filter_map { |number| point(heat, name, number)&.then { |ratio| [Math.log(number), ratio] } }
        crossing(curve)&.then { |log| Math.exp(log) }
      end

      # The ratio at one of the race's points, or nil.
      def point(heat, name, number)
        heat[name]&.then { |result| heat.ratio(result, number.to_s.to_sym) }
      end

      private

      # Where a curve of [x, ratio] falls below one for good.
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
