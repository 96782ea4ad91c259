# frozen_string_literal: true

module Pelton
  module Record
    # Counts the queries of a database. {Record.stats} shows them, and {Record.on_query} sees each one.
    class Statistics
      # @return [Integer] queries that were sent, and those among them that failed
      attr_reader :queries, :errors

      # @return [Integer] finds that shared a query with those of other fibers
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
      # @return [self]
      def on_query(&block)
        raise ArgumentError, "on_query needs a block" unless block
        @listeners += [block]
        self
      end

      # Counts a query. The errors of listeners are reported, and change nothing.
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

    @databases = []

    class << self
      # @return [Array<Sequel::Database>] those that are connected
      attr_reader :databases

      # What a database and its pool have done and do, since it was connected: `queries`, `errors`, `merged`, `query_time` in seconds, and
      # `pool`: `size` (open connections), `max`, `in_use`, `idle`, `waiting` (fibers), `wait_time` and `use_time` in seconds, `timeouts`,
      # and `held`: who holds connections, since when and where. With SQLite's readers, or with replicas, `servers` has the pool's numbers
      # for each.
      #
      # @param database [Sequel::Database] of {Record.connect}
      # @return [Hash{Symbol => Object}]
      # @raise [ConfigurationError] when no database is connected
      def stats(database = self.database)
        raise ConfigurationError, "no database is connected: call Pelton::Record.connect" unless database
        shards = database.pool.shards
        each = shards.transform_values(&:stats)
        pool = each.values.reduce { |one, other| one.merge(other) { |_, mine, theirs| mine + theirs } }
        pool = pool.merge(servers: each) if shards.size > 1
        database.statistics.to_h.merge(pool: pool, held: shards.values.flat_map(&:holders))
      end

      # Calls the block after each query: for a log of slow queries, or for tracing.
      #
      #     Pelton::Record.on_query { |sql, seconds| logger.warn(sql) if seconds > 0.5 }
      #
      # @yieldparam sql [String] without the values that were bound
      # @yieldparam duration [Float] seconds
      # @yieldparam error [Exception, nil]
      # @raise [ConfigurationError] when no database is connected
      # @raise [ArgumentError] without a block
      # @return [void]
      def on_query(&block)
        raise ConfigurationError, "no database is connected: call Pelton::Record.connect" unless database
        database.statistics.on_query(&block)
        nil
      end
    end
  end
end
