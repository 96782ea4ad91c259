# frozen_string_literal: true

require "pelton/metrics"

module Pelton
  module Sequel
    # The counters of all databases with the extension pelton_statistics, in Prometheus' format, by OpenTelemetry's
    # names for database clients. Each pool is named by its database's address; SQLite's readers and each replica are
    # separate pools. A server's control socket shows them.
    # @private
    module Metrics
      PREFIX = "db_client_connection_"
      POOL = "#{PREFIX}pool_name"
      FAMILIES = {
        "count" => ["gauge", "count", "Connections by their state.", ["#{PREFIX}state", POOL]],
        "max" => ["gauge", "max", "Connections that the pools may have.", POOL],
        "pending_requests" => ["gauge", "pending_requests", "Fibers that wait for a connection.", POOL],
        "timeouts" => ["counter", "timeouts_total", "Fibers that got no connection in time.", POOL],
        "wait_time" => ["histogram", "wait_time_seconds", "Time that fibers waited for a connection.", POOL],
        "use_time" => ["histogram", "use_time_seconds", "Time that fibers held a connection.", POOL],
        "create_time" => ["histogram", "create_time_seconds", "Time that new connections took to open.", POOL]
      }.to_h do |name, (type, suffix, help, label)|
        [PREFIX + name, Pelton::Metrics::Family.new(type, PREFIX + suffix, help, label).freeze]
      end.merge(
        "db_client_operation_duration" => Pelton::Metrics::Family.new("histogram",
          "db_client_operation_duration_seconds", "Time that queries took.").freeze,
        "db_client_merged" => Pelton::Metrics::Family.new("counter", "pelton_record_merged_total",
          "Finds that shared a query with others.").freeze
      ).freeze

      @databases = []

      class << self
        # @param database [Sequel::Database]
        def add(database)
          @databases += [database]
          @source ||= Pelton::Metrics.add(FAMILIES) { of(@databases) }
        end

        # @param database [Sequel::Database]
        def delete(database)
          @databases -= [database]
          @source = Pelton::Metrics.remove(@source) if @databases.empty? && @source
        end
      end

      # @param databases [Array<Sequel::Database>]
      # @return [Hash{String => Numeric, Hash}]
      def self.of(databases)
        pools = databases.select { |database| database.pool.is_a?(Pool) }.flat_map do |database|
          database.pool.shards.values.map { |shard| [name_of(database, shard), shard] }
        end
        pools = pools.group_by(&:first).transform_values { |same| same.map(&:last) }
        counts = databases.map(&:statistics)
        states = pools.flat_map do |name, shards|
          [["used #{name}", shards.sum(&:in_use)], ["idle #{name}", shards.sum(&:idle)]]
        end
        {
          "max" => ->(shards) { shards.sum(&:max) },
          "pending_requests" => ->(shards) { shards.sum(&:waiting) },
          "timeouts" => ->(shards) { shards.sum(&:timeouts) },
          "wait_time" => ->(shards) {
            {"+Inf" => shards.sum { |shard| shard.taken - shard.waiting },
             "sum" => shards.sum(&:wait_time)}
          },
          "use_time" => ->(shards) { {"+Inf" => shards.sum(&:uses), "sum" => shards.sum(&:use_time)} },
          "create_time" => ->(shards) { {"+Inf" => shards.sum(&:created), "sum" => shards.sum(&:create_time)} }
        }.to_h { |name, value| [PREFIX + name, pools.transform_values(&value)] }.merge(
          "#{PREFIX}count" => states.to_h,
          "db_client_operation_duration" => {"+Inf" => counts.sum(&:queries), "sum" => counts.sum(&:query_time)},
          "db_client_merged" => counts.sum(&:merged)
        )
      end

      def self.name_of(database, shard) = [database.driver.name, *(shard.name unless shard.name == :default)].join(" ")
      private_class_method :name_of
    end
  end
end
