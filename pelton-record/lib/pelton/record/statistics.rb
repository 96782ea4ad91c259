# frozen_string_literal: true

module Pelton
  module Record
    # Counts what a database did.
    class Statistics
      # @return [Integer] queries that were sent, and those among them that failed
      attr_reader :queries, :errors

      # @return [Integer] finds of different fibers that shared a query with others
      attr_accessor :merged

      # @return [Float] seconds that queries took
      attr_reader :query_time

      def initialize
        @queries = @errors = @merged = 0
        @query_time = 0.0
        @listeners = []
      end

      # Calls the block after each query.
      #
      # @yieldparam sql [String]
      # @yieldparam duration [Float] seconds
      # @yieldparam error [Exception, nil]
      def on_query(&block)
        @listeners += [block]
        self
      end

      # @private
      def query(sql, duration, error)
        @queries += 1
        @errors += 1 if error
        @query_time += duration
        @listeners.each { |listener| listener.call(sql, duration, error) } unless @listeners.empty?
      end
    end
  end
end
