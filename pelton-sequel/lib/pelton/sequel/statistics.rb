# frozen_string_literal: true

require_relative "metrics"

module Pelton
  module Sequel
    # Counts a database's queries, for the extension pelton_statistics. It does not subscribe to the event
    # `query.sequel`: the counters are always wanted, and an event costs each query more than counting it.
    # @private
    class Statistics
      # @return [Integer] sent queries, and how many of them failed
      attr_reader :queries, :errors

      # @return [Integer] finds that shared another fiber's query
      attr_accessor :merged

      # @return [Float] seconds spent in queries
      attr_reader :query_time

      def initialize
        @queries = @errors = @merged = 0
        @query_time = 0.0
      end

      # Counts a query that has ended.
      #
      # @param event [Notifications::Event, nil] nil: there are no subscribers
      def query(event, duration, error)
        @queries += 1
        @errors += 1 if error
        @query_time += duration
        event&.finish(error, duration)
      end

      # @return [Hash{Symbol => Numeric}]
      def to_h = {queries: @queries, errors: @errors, merged: @merged, query_time: @query_time}
    end
  end
end
