# frozen_string_literal: true

require "pelton/sequel"

module Sequel
  # Counts queries, publishes each one as the event `query.sequel` (Pelton::Notifications), and adds the numbers to the
  # control socket's /metrics.
  #
  #     DB.extension(:pelton_statistics)
  #     DB.stats # => {queries: 12, errors: 0, merged: 0, query_time: 0.02}
  #     Pelton::Notifications.subscribe("query.sequel") { |event| warn event.payload[:sql] if event.duration > 0.5 }
  module PeltonStatistics
    # Measures each query of a database without Pelton's pool, which does it itself.
    module Measurement
      # Sequel and its adapters call it around each query.
      # @private
      def log_connection_yield(sql, connection, arguments = nil)
        return super if pool.is_a?(Pelton::Sequel::Pool) # it has come later
        event = Pelton::Notifications.start("query.sequel") { {database: self, sql: sql} }
        start = Pelton::Clock.now
        begin
          super
        rescue Exception => error # standard:disable Lint/RescueException -- raised again
          raise
        ensure
          @statistics.query(event, Pelton::Clock.now - start, error)
        end
      end
    end
    private_constant :Measurement

    # @private
    def self.extended(database)
      database.instance_exec { @statistics = Pelton::Sequel::Statistics.new }
      database.extend(Measurement) unless database.pool.is_a?(Pelton::Sequel::Pool)
      Pelton::Sequel::Metrics.add(database)
    end

    # @private
    # @return [Pelton::Sequel::Statistics]
    attr_reader :statistics

    # Returns the counters since the extension was loaded. With {Pelton::Sequel::Pool}, `pool` has `size` (open
    # connections), `max`, `in_use`, `idle`, `waiting` (fibers), `wait_time` and `use_time` in seconds, `timeouts` and,
    # for several servers, `servers` with the same for each; `held` describes the holders of connections.
    #
    # @return [Hash{Symbol => Object}]
    def stats = pool.respond_to?(:stats) ? @statistics.to_h.merge(pool.stats) : @statistics.to_h
  end

  Database.register_extension(:pelton_statistics, PeltonStatistics)
end
