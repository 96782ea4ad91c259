# frozen_string_literal: true

require "pelton/database"

module Sequel
  # Counts queries, passes each one to listeners, and adds the numbers to the control socket's /metrics.
  #
  #     DB.extension(:pelton_statistics)
  #     DB.on_query { |sql, seconds, error| warn sql if seconds > 0.5 }
  #     DB.stats # => {queries: 12, errors: 0, merged: 0, query_time: 0.02}
  module PeltonStatistics
    # @private
    def self.extended(database)
      database.instance_exec { @statistics = Pelton::Database::Statistics.new }
      Pelton::Database::Metrics.add(database)
    end

    # @private
    # @return [Pelton::Database::Statistics]
    attr_reader :statistics

    # Calls the block after each query. Its errors go to Pelton.on_error.
    #
    # @yieldparam sql [String] without the values that were bound
    # @yieldparam duration [Float] seconds
    # @yieldparam error [Exception, nil]
    # @return [void]
    # @raise [ArgumentError] without a block
    def on_query(&block) = @statistics.on_query(&block) && nil

    # Returns the counters since the extension was loaded. With {Pelton::Database::Pool}, `pool` has `size` (open connections), `max`, `in_use`,
    # `idle`, `waiting` (fibers), `wait_time` and `use_time` in seconds, `timeouts` and, for several servers, `servers` with the same for each;
    # `held` describes the holders of connections.
    #
    # @return [Hash{Symbol => Object}]
    def stats = pool.respond_to?(:stats) ? @statistics.to_h.merge(pool.stats) : @statistics.to_h

    # Called by Sequel and its adapters around each query.
    # @private
    def log_connection_yield(sql, connection, arguments = nil)
      return super if pool.respond_to?(:slot_of) && !pool.slot_of(connection) # being opened
      start = Pelton::Clock.now
      begin
        super
      rescue => error
        raise
      ensure
        @statistics.query(sql, Pelton::Clock.now - start, error)
      end
    end
  end

  Database.register_extension(:pelton_statistics, PeltonStatistics)
end
