# frozen_string_literal: true

require_relative "address"
require_relative "driver"
require_relative "pool"
require_relative "replicas"
require_relative "statistics"

module Pelton
  module Sequel
    class << self
      # Connects to a database with the pool, statistics, prepared statements and cancelled queries. Opens one connection at once, to report
      # mistakes early.
      #
      # @param address [String] "sqlite://app.db" (relative to the current folder; an absolute path has three slashes), "sqlite::memory:",
      #   "postgres://user:password@host:port/database", "mysql://user:password@host/database"; "mariadb:" and "trilogy:" mean "mysql:"
      # @param pool [Integer] maximum number of connections; for SQLite, of readers, with one more connection for writes
      # @param timeout [Numeric] seconds to wait for a connection from the pool, for a new connection, and for SQLite's lock
      # @param query_timeout [Numeric, nil] seconds for each query; nil: no limit besides those around the call
      # @param prepared [Boolean] whether repeated queries are prepared at the server; false for pgbouncer
      # @param max_idle [Numeric] seconds after which an idle connection is closed
      # @param leak_after [Numeric, nil] seconds that a fiber may hold a connection between queries before a warning names it, while a reactor
      #   runs; nil: never
      # @param replicas [Array<String>] addresses of read-only servers, which get the reads; writes go to the first address
      # @param sticky [Numeric] seconds for which a fiber that has written also reads from the primary, because replicas lag
      # @param replica_fallback [Boolean] whether reads go to the primary when all replicas fail; false: they raise
      # @param options [Hash] options of Sequel.connect
      # @return [Sequel::Database]
      # @raise [ConfigurationError] if the address is invalid, the driver's gem is missing, or the password or database is wrong
      # @raise [ConnectionError] if the server does not answer or refuses the connection
      # @asynchronous
      def connect(address, pool: 10, timeout: 5, query_timeout: nil, prepared: true, max_idle: 300, leak_after: 30, replicas: [], sticky: Replicas::STICKY,
        replica_fallback: true, **options)
        parsed = Address.new(address)
        raise ConfigurationError, "the pool has one connection or more, not #{pool.inspect}" unless pool.is_a?(Integer) && pool.positive?
        driver = Driver.of(parsed.driver, parsed.to_s)
        settings = driver.options.merge(Replicas.new(replicas, parsed, fallback: replica_fallback).settings(pool: pool, sticky: sticky))
        database = ::Sequel.connect({pool_class: Pool, max_connections: pool, pool_timeout: timeout, max_idle: max_idle, leak_after: leak_after, prepared: prepared,
          query_timeout: query_timeout, driver: driver, test: false, keep_reference: false, **parsed.options, **settings, **options})
        database.extension(:pelton_pool, :pelton_statistics)
        driver.prepare(database)
        database.test_connection
        ::Sequel.synchronize { ::Sequel::DATABASES.push(database) } # Sequel::Model uses the last one
        database
      rescue ::Sequel::AdapterNotFound => error
        raise ConfigurationError, "#{parsed}: #{error.message}"
      end

      # Closes a database's connections, those in use when they are given back, and removes it from Sequel's list.
      #
      # @param database [Sequel::Database] as {connect} returned it
      def disconnect(database)
        database.disconnect
        Metrics.delete(database)
        ::Sequel.synchronize { ::Sequel::DATABASES.delete(database) }
        ::Sequel::Model.db = nil if defined?(::Sequel::Model) && database.equal?(::Sequel::Model.instance_variable_get(:@db))
      end
    end
  end
end
