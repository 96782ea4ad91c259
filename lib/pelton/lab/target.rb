# frozen_string_literal: true

require_relative "statistics"

module Pelton
  module Lab
    # A limit that a contender must keep: a ratio to the baseline, or a figure of its own.
    class Target
      # A median within this factor of the limit counts as met: medians of seven rounds differ by as much.
      TOLERANCE = 1.05
      # Fewer rounds give a figure, not a verdict.
      ROUNDS_FOR_A_VERDICT = 7

      attr_reader :row, :what, :contender, :to, :pin, :metric, :limit, :unit, :digits

      # @param row [Integer, nil] its number in the table of targets; nil: it stands below them
      # @param of [String] the contender that must keep it
      # @param to [String, Array<String>, nil] with whom it is compared: of several the one that did best; nil: the baseline
      # @param at_most [Numeric] the limit
      # @param pin [Symbol, nil] the pinning it is meant for; nil: any
      # @param metric [Symbol, nil] what is compared; nil: the race's metric
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

      # Where it stands among others.
      def order
        row || Float::INFINITY
      end

      # Holds it against a {Heat}.
      def check(heat)
        own = heat[contender]
        return unmeasured(own) unless own&.measured?
        return Check.new(self, own.median(metric), own.rounds, nil, Statistics.doubt(own.values(metric))) if unit
        base = rival(heat)
        return unmeasured(base) unless base&.measured?
        Check.new(self, own.median(metric) / base.median(metric).to_f, [own.rounds, base.rounds].min, nil,
          Statistics.doubt(own.values(metric), base.values(metric)))
      end

      # The result that it is compared with.
      def rival(heat)
        others = [*(to || heat.race.reference.name)].filter_map { |name| heat[name] }
        others.select(&:measured?).min_by { |result| result.median(metric) } || others.first
      end
      private :rival

      def unmeasured(result)
        Check.new(self, nil, 0, result ? "#{result.name}: #{result.reason}" : "#{[contender, *to].join(" or ")} did not take part")
      end
      private :unmeasured

      # What came of it: the figure (nil when there is none, and then why), and how far off another run's may be.
      Check = Struct.new(:target, :figure, :rounds, :reason, :doubt, :latency) do
        # What the target says, and where, if that was further away.
        def what
          latency&.positive? ? "#{target.what}, #{latency} ms" : target.what
        end

        def met?
          figure && figure <= target.limit * TOLERANCE
        end

        def missed?
          figure && !met?
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
