# frozen_string_literal: true

require_relative "address"
require_relative "driver"
require_relative "pool"
require_relative "replicas"
require_relative "statistics"

module Pelton
  module Database
    class << self
      # Connects with the pool, statistics, prepared statements and cancelled queries. One connection is opened at once, to find mistakes early.
      #
      # @param address [String] "sqlite://app.db" (relative to the current folder; an absolute path has three slashes), "sqlite::memory:",
      #   "postgres://user:password@host:port/database", "mysql://user:password@host/database"; "mariadb:" and "trilogy:" are "mysql:"
      # @param pool [Integer] connections at most. Of SQLite: those that read; one more writes
      # @param timeout [Numeric] seconds to wait for a connection of the pool, for a new one to open, and for a lock of SQLite's
      # @param query_timeout [Numeric, nil] seconds for each query; nil: none, so that the limits around it count
      # @param prepared [Boolean] whether queries are prepared at the server; false for pgbouncer
      # @param max_idle [Numeric] seconds after which an idle connection is closed
      # @param leak_after [Numeric, nil] seconds after which a warning says who holds a connection outside a query, once each time, while a
      #   reactor runs; nil: never
      # @param replicas [Array<String>] addresses of servers that only read. Queries go there, and what writes goes to the first address
      # @param sticky [Numeric] seconds for which a fiber that has written reads from there, too, because replicas are late
      # @param replica_fallback [Boolean] whether the primary answers reads while no replica does; false: they fail, and the primary has no more work
      # @param options [Hash] Sequel's options of Sequel.connect
      # @return [Sequel::Database]
      # @raise [ConfigurationError] when the address cannot be understood, or the driver's gem is missing
      # @raise [ConnectionError] when nobody answers there, or refuses
      # @asynchronous
      def connect(address, pool: 10, timeout: 5, query_timeout: nil, prepared: true, max_idle: 300, leak_after: 30, replicas: [], sticky: Replicas::STICKY,
        replica_fallback: true, **options)
        parsed = Address.new(address)
        raise ConfigurationError, "the pool has one connection or more, not #{pool.inspect}" unless pool.is_a?(Integer) && pool.positive?
        driver = Driver.of(parsed.driver, parsed.to_s)
        settings = driver.options.merge(Replicas.new(replicas, parsed, fallback: replica_fallback).settings(pool: pool, sticky: sticky))
        database = Sequel.connect({pool_class: Pool, max_connections: pool, pool_timeout: timeout, max_idle: max_idle, leak_after: leak_after, prepared: prepared,
          query_timeout: query_timeout, driver: driver, test: false, keep_reference: false, **parsed.options, **settings, **options})
        database.extension(:pelton_pool, :pelton_statistics)
        driver.prepare(database)
        database.test_connection
        Sequel.synchronize { Sequel::DATABASES.push(database) } # where a plain Sequel::Model looks for its own
        database
      rescue Sequel::AdapterNotFound => error
        raise ConfigurationError, "#{parsed}: #{error.message}"
      end

      # Closes a database's connections, those in use when they come back, and forgets it.
      #
      # @param database [Sequel::Database] of {connect}
      def disconnect(database)
        database.disconnect
        Metrics.delete(database)
        Sequel.synchronize { Sequel::DATABASES.delete(database) }
        Sequel::Model.db = nil if defined?(Sequel::Model) && database.equal?(Sequel::Model.instance_variable_get(:@db))
      end
    end
  end
end
