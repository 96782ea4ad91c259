# frozen_string_literal: true

require "pelton/metrics"

module Pelton
  module Record
    # The counters of all connected databases together, by OpenTelemetry's names, for the control socket of a server.
    # @private
    module Metrics
      PREFIX = "db_client_connection_"
      FAMILIES = {
        "count" => ["gauge", "count", "Connections by their state.", :state],
        "max" => ["gauge", "max", "Connections that the pools may have."],
        "pending_requests" => ["gauge", "pending_requests", "Fibers that wait for a connection."],
        "timeouts" => ["counter", "timeouts_total", "Fibers that got no connection in time."],
        "wait_time" => ["histogram", "wait_time_seconds", "Time that fibers waited for a connection."],
        "use_time" => ["histogram", "use_time_seconds", "Time that fibers held a connection."]
      }.to_h { |name, (type, suffix, help, label)| [PREFIX + name, Pelton::Metrics::Family.new(type, PREFIX + suffix, help, label).freeze] }.merge(
        "db_client_operation_duration" => Pelton::Metrics::Family.new("histogram", "db_client_operation_duration_seconds", "Time that queries took.").freeze,
        "db_client_merged" => Pelton::Metrics::Family.new("counter", "pelton_record_merged_total", "Finds that shared a query with others.").freeze
      ).freeze

      # @param databases [Array<Database>]
      # @return [Hash{String => Numeric, Hash}]
      def self.of(databases)
        shards = databases.flat_map { |database| database.pool.shards.values }
        counts = databases.map(&:statistics)
        {
          "#{PREFIX}count" => {"used" => shards.sum(&:in_use), "idle" => shards.sum(&:idle)},
          "#{PREFIX}max" => shards.sum(&:max),
          "#{PREFIX}pending_requests" => shards.sum(&:waiting),
          "#{PREFIX}timeouts" => shards.sum(&:timeouts),
          "#{PREFIX}wait_time" => {"+Inf" => shards.sum(&:taken), "sum" => shards.sum(&:wait_time)},
          "#{PREFIX}use_time" => {"+Inf" => shards.sum(&:taken), "sum" => shards.sum(&:use_time)},
          "db_client_operation_duration" => {"+Inf" => counts.sum(&:queries), "sum" => counts.sum(&:query_time)},
          "db_client_merged" => counts.sum(&:merged)
        }
      end
    end
  end
end
