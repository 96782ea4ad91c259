# frozen_string_literal: true

module Pelton
  module Lab
    # A limit that a contender must keep: a ratio to the baseline, or a figure of its own.
    class Target
      # A median within this factor of the limit counts as met: medians of seven rounds differ by as much.
      TOLERANCE = 1.05
      # Fewer rounds give a figure, not a verdict.
      ROUNDS_FOR_A_VERDICT = 7

      attr_reader :row, :what, :contender, :pin, :metric, :limit, :unit, :digits

      # @param row [Integer] its number in the table of targets
      # @param of [String] the contender that must keep it
      # @param at_most [Numeric] the limit
      # @param pin [Symbol, nil] the pinning it is meant for; nil: any
      # @param metric [Symbol, nil] what is compared; nil: the race's metric
      # @param unit [String, nil] the unit of an absolute limit; nil: the limit is a ratio to the baseline
      def initialize(row, what, of:, at_most:, default_metric:, pin: nil, metric: nil, unit: nil, digits: 2)
        @row = row
        @what = what
        @contender = of
        @limit = at_most
        @pin = pin
        @metric = metric || default_metric
        @unit = unit
        @digits = digits
      end

      # Holds it against a {Heat}.
      def check(heat)
        own = heat[contender]
        return Check.new(self, nil, 0, "#{contender}: #{own.reason}") unless own.measured?
        return Check.new(self, own.median(metric), own.rounds) if unit
        base = heat.reference
        return Check.new(self, nil, 0, "#{base.name}: #{base.reason}") unless base.measured?
        Check.new(self, own.median(metric) / base.median(metric), [own.rounds, base.rounds].min)
      end

      # What came of it: the figure (nil when there is none, and then why).
      Check = Struct.new(:target, :figure, :rounds, :reason) do
        def met?
          figure && figure <= target.limit * TOLERANCE
        end

        # @return [String] "met", "missed" or "not measured"; too few rounds are said beside it
        def verdict
          return "not measured" unless figure
          met? ? "met" : "missed"
        end

        def sure?
          rounds >= ROUNDS_FOR_A_VERDICT
        end
      end
    end
  end
end
