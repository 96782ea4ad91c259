# frozen_string_literal: true

module Pelton
  module Cluster
    # How often the workers were started again after a death, and when each may be next: the first one that dies early
    # at once, and the following ones after growing delays. A worker is known by its index.
    class Restarts
      LONGEST_DELAY = 30.0 # seconds

      # @return [Hash{Integer => Integer}] the restarts of each worker
      attr_reader :counts

      def initialize
        @counts = Hash.new(0)
        @failures = Hash.new(0) # early deaths in a row
        @not_before = Hash.new(0.0)
      end

      def count(index) = @counts[index] += 1

      # Puts the next start off.
      #
      # @param early [Boolean] whether the worker has died early
      # @return [Float] seconds
      def delay(index, early:)
        @failures[index] = early ? @failures[index] + 1 : 0
        delay = [2.0**[@failures[index] - 1, 0].max - 1, LONGEST_DELAY].min
        @not_before[index] = Clock.now + delay
        delay
      end

      # Whether the worker may be started.
      def due?(index) = Clock.now >= @not_before[index]

      # @return [Array<Float>] the seconds until the workers that must wait may be started
      def left = @not_before.values.map { |time| time - Clock.now }.select(&:positive?)
    end
  end
end
