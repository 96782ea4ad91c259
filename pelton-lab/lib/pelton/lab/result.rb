# frozen_string_literal: true

require_relative "statistics"

module Pelton
  module Lab
    # The outcome of one contender in one comparison: its measurements, or the reason why there are none.
    class Result
      attr_reader :contender, :size, :measurements, :status, :reason

      def initialize(contender, size)
        @contender = contender
        @size = size
        @measurements = []
        @positions = []
        @status = :waiting
      end

      def name
        contender.name
      end

      # @param position [Numeric] when it was measured, relative to the other contenders' measurements
      def add(measurement, position = measurements.size)
        @measurements << measurement
        @positions << position
        @status = :measured
      end

      # The contender cannot run here: a library is missing.
      def skip(reason)
        @status = :skipped
        @reason = reason
      end

      # The contender ran and must not be compared: a wrong answer, an error, no answer in time. Its earlier
      # measurements are discarded.
      def refuse(reason)
        @status = :refused
        @reason = reason
        @measurements = []
        @positions = []
      end

      def runnable?
        %i[waiting measured].include?(status)
      end

      def measured?
        status == :measured
      end

      def rounds
        measurements.size
      end

      # The values of a metric, round by round.
      def values(metric)
        measurements.filter_map { |measurement| measurement[metric] }
      end

      # The same, each with its position in time: {Statistics.ratio} pairs neighbours.
      # @return [Array<(Numeric, Numeric)>]
      def positioned(metric)
        @positions.zip(measurements.map { |measurement| measurement[metric] }).select(&:last)
      end

      def median(metric)
        Statistics.median(values(metric))
      end

      def range(metric)
        values(metric).minmax
      end
    end
  end
end
