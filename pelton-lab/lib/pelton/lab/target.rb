# frozen_string_literal: true

require_relative "statistics"

module Pelton
  module Lab
    # A limit that a contender must keep: for its ratio to the baseline, or for a metric.
    class Target
      # A value within this factor of the limit meets it: medians of seven rounds differ by as much.
      TOLERANCE = 1.05
      # With fewer rounds the report says next to the verdict how many there were.
      ROUNDS_FOR_A_VERDICT = 7

      attr_reader :row, :what, :contender, :to, :pin, :metric, :limit, :unit, :digits

      # @param row [Integer, nil] its number in the table of targets; nil: it stands below the numbered ones
      # @param of [String] the contender that must keep it
      # @param to [String, Array<String>, nil] the contender to compare with; of several, the best one; nil: the
      #   baseline
      # @param at_most [Numeric] the limit
      # @param pin [Symbol, nil] the pinning that it is meant for; nil: any
      # @param metric [Symbol, nil] the metric to compare; nil: the race's metric
      # @param unit [String, nil] the unit of an absolute limit; nil: the limit is a ratio to the baseline
      def initialize(row, what, of:, at_most:, default_metric:, to: nil, pin: nil, metric: nil, unit: nil, digits: 2)
        @row = row
        @what = what
        @contender = of
        @to = to
        @limit = at_most
        @pin = pin
        @metric = metric || default_metric
        @unit = unit
        @digits = digits
      end

      # Sorts targets by their rows.
      def order
        row || Float::INFINITY
      end

      # Checks a {Comparison} against the limit.
      # @return [Check]
      def check(comparison)
        own = comparison[contender]
        return unmeasured(own) unless own&.measured?
        return Check.new(self, Statistics.estimate(own.values(metric)), own.rounds) if unit
        base = rival(comparison)
        return unmeasured(base) unless base&.measured?
        Check.new(self, Statistics.ratio(own.positioned(metric), base.positioned(metric)),
          [own.rounds, base.rounds].min)
      end

      # The result to compare with.
      def rival(comparison)
        others = [*(to || comparison.race.reference.name)].filter_map { |name| comparison[name] }
        others.select(&:measured?).min_by { |result| result.median(metric) } || others.first
      end
      private :rival

      def unmeasured(result)
        Check.new(self, nil,
          0, result ? "#{result.name}: #{result.reason}" : "#{[contender, *to].join(" or ")} did not take part")
      end
      private :unmeasured

      # The outcome: an {Statistics::Estimate} of the value, or nil and the reason.
      Check = Struct.new(:target, :estimate, :rounds, :reason, :latency) do
        def value
          estimate&.value
        end

        # The target's text, and the latency where there was one.
        def what
          latency&.positive? ? "#{target.what}, #{latency} ms" : target.what
        end

        # @return [String] "met", "missed", "not measured", or "not certain": the value's confidence interval includes
        #   the limit, or there were too few rounds for an interval
        def verdict
          limit = target.limit * TOLERANCE
          return "not measured" unless value
          return "not certain" if estimate.uncertain?(limit)
          (value <= limit) ? "met" : "missed"
        end

        def met? = verdict == "met"

        def missed? = verdict == "missed"

        def enough_rounds?
          rounds >= ROUNDS_FOR_A_VERDICT
        end
      end
    end
  end
end
