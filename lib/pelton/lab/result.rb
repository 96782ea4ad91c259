# frozen_string_literal: true

require_relative "statistics"

module Pelton
  module Lab
    # What became of one contender in one heat: its measurements, or why there are none.
    class Result
      attr_reader :contender, :size, :measurements, :status, :reason

      def initialize(contender, size)
        @contender = contender
        @size = size
        @measurements = []
        @status = :waiting
      end

      def name
        contender.name
      end

      def add(measurement)
        @measurements << measurement
        @status = :measured
      end

      # It cannot run here: a library is missing.
      def skip(reason)
        @status = :skipped
        @reason = reason
      end

      # It ran and must not be compared: a wrong answer, an error, no answer in time. What it measured before is void.
      def refuse(reason)
        @status = :refused
        @reason = reason
        @measurements = []
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

      # Its figures of one name, round by round.
      def values(metric)
        measurements.filter_map { |measurement| measurement[metric] }
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
