# frozen_string_literal: true

module Pelton
  module Lab
    # Medians and their confidence intervals. Never a mean, which one bad round moves.
    module Statistics
      # How often the bootstrap resamples, and the share of the resampled medians that the interval holds.
      DRAWS = 400
      CONFIDENCE = 0.90
      # Fewer values have no interval.
      FEWEST = 3

      # A median and its confidence interval. `low` and `high` are nil where there were too few values for one.
      Estimate = Struct.new(:value, :low, :high) do
        # Whether the interval leaves open on which side of a limit the true value is.
        def uncertain?(limit)
          low.nil? || (low <= limit && limit < high)
        end

        # @return [Float, nil] the interval's wider half as a share of the value: 0.08 for 1.00 between 0.95 and 1.08.
        #   nil without an interval, and where the value is no positive number
        def spread
          return unless low
          return 0.0 if low == high
          [high / value.to_f - 1, 1 - low / value.to_f].max if value.positive?
        end
      end

      # @return [Numeric, nil] the middle value, or the mean of the two in the middle; nil for no values
      def self.median(values)
        return if values.empty?
        sorted = values.sort
        middle = sorted.size / 2
        sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
      end

      # @param share [Float] 0.99 for the 99th percentile
      # @return [Numeric, nil] the smallest of the values that is at least as large as this share of them; nil for no
      #   values
      def self.percentile(values, share) = values.sort[(values.size * share).ceil - 1]

      # The median with a confidence interval by the bootstrap: the values are resampled with repetition, and the
      # interval holds the middle {CONFIDENCE} of the medians.
      # @return [Estimate, nil] nil for no values
      def self.estimate(values)
        value = median(values) or return
        return Estimate.new(value) if values.size < FEWEST
        random = Random.new(values.size) # the same values give the same interval
        medians = Array.new(DRAWS) { median(Array.new(values.size) { values[random.rand(values.size)] }) }.sort
        outside = (DRAWS * (1 - CONFIDENCE) / 2).round
        Estimate.new(value, medians[outside], medians[-1 - outside])
      end

      # The median of the ratios of neighbours: each value by that value of the base which was measured next to it, so
      # that a disturbance that lasts longer than a round strikes both.
      # @param values [Array<(Numeric, Numeric)>] pairs of a position in time and a value
      # @param base [Array<(Numeric, Numeric)>] likewise
      # @return [Estimate, nil] nil where there is nothing to divide
      def self.ratio(values, base)
        base = base.select { |_, value| value.positive? }
        pairs = (values.size <= base.size) ? neighbours(values, base) : neighbours(base, values).map(&:reverse)
        estimate(pairs.map { |value, other| value / other.to_f })
      end

      # Each value of the fewer ones with the nearest of the others.
      def self.neighbours(few, many)
        few.map { |position, value| [value, many.min_by { |other, _| (other - position).abs }.last] }
      end
      private_class_method :neighbours
    end
  end
end
