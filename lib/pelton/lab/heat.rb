# frozen_string_literal: true

module Pelton
  module Lab
    # One race run in one pinning: every contender's {Result}, and what the targets say to it.
    class Heat
      attr_reader :experiment, :race, :pin, :size, :rounds, :results
      # What served: name and version. And why nothing was run, or nil.
      attr_accessor :server, :skipped

      def initialize(experiment, race, pin, size:, rounds:, results:)
        @experiment = experiment
        @race = race
        @pin = pin
        @size = size
        @rounds = rounds
        @results = results
      end

      def [](contender_name)
        results.find { |result| result.name == contender_name }
      end

      # The baseline's result, or nil.
      def reference
        results.find { |result| result.contender.baseline }
      end

      # A contender's median by the baseline's, or nil.
      def ratio(result, metric = race.metric.name)
        return unless result.measured? && reference&.measured?
        result.median(metric) / reference.median(metric)
      end

      # @return [Array<Target::Check>] for the targets that are meant for this pinning
      def checks
        race.targets.select { |target| target.pin.nil? || target.pin == pin }.map do |target|
          skipped ? Target::Check.new(target, nil, 0, skipped) : target.check(self)
        end
      end
    end
  end
end
