# frozen_string_literal: true

module Pelton
  module Lab
    # One timed round of one contender. Times in seconds, memory in MB; a contender's own records go by their names.
    class Measurement
      METRICS = %i[user system cpu real us_per_operation cpu_us_per_operation cpu_ms_per_operation rss_mb].freeze

      attr_reader :user, :system, :real, :operations, :rss_kb, :records

      # @param rss_kb [Integer, nil] the peak of resident memory, nil where the system does not report it
      def initialize(user:, system:, real:, operations:, rss_kb: nil, records: {})
        @user = user
        @system = system
        @real = real
        @operations = operations
        @rss_kb = rss_kb
        @records = records
      end

      def cpu
        user + system
      end

      def rss_mb
        rss_kb && rss_kb / 1024.0
      end

      def us_per_operation
        real / operations * 1e6
      end

      def cpu_us_per_operation
        cpu / operations * 1e6
      end

      def cpu_ms_per_operation
        cpu_us_per_operation / 1000
      end

      # The value of a metric: one of {METRICS}, or one that the contender recorded; nil when there is none.
      def [](metric)
        return records[metric] if records.key?(metric)
        public_send(metric) if METRICS.include?(metric)
      end

      # The keywords that make it again, in another process.
      def parts
        {user:, system:, real:, operations:, rss_kb:, records:}
      end

      def to_h
        {user:, system:, real:, operations:, us_per_operation:, rss_mb:, **records}
      end
    end
  end
end
