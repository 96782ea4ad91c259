# frozen_string_literal: true

require_relative "metrics"

module Pelton
  module Database
    # Counts a database's queries and passes each one to listeners, for the extension pelton_statistics.
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
        @listeners = []
      end

      # Calls the block after each query.
      #
      # @yieldparam sql [String]
      # @yieldparam duration [Float] seconds
      # @yieldparam error [Exception, nil]
      # @return [self]
      def on_query(&block)
        raise ArgumentError, "on_query needs a block" unless block
        @listeners += [block]
        self
      end

      # Counts a query. Errors of listeners go to Pelton.on_error.
      # @private
      def query(sql, duration, error)
        @queries += 1
        @errors += 1 if error
        @query_time += duration
        @listeners.each { |listener| tell(listener, sql, duration, error) } unless @listeners.empty?
      end

      # @return [Hash{Symbol => Numeric}]
      def to_h = {queries: @queries, errors: @errors, merged: @merged, query_time: @query_time}

      private

      def tell(listener, *query)
        listener.call(*query)
      rescue => error
        Pelton.report_error(error)
      end
    end
  end
end
