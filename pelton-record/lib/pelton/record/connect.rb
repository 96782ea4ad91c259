# frozen_string_literal: true

require_relative "address"
require_relative "pool"
require_relative "database"
require_relative "driver"
require_relative "listener"
require_relative "metrics"
require_relative "replicas"
require_relative "routing"

module Pelton
  module Record
    DRIVERS = {sqlite: :SQLiteDriver, postgres: :PostgresDriver, mysql: :MySQLDriver}.freeze
    private_constant :DRIVERS

    class << self
      # The address of the application's database, which {connect} takes when it is given none. An application sets it in its
      # config/database.rb, where `pelton db` finds it, too.
      #
      # @return [String, nil]
      attr_accessor :address

      # Connects models to a database. One connection is opened at once, to find mistakes early.
      #
      # @param address [String] otherwise {address}: "sqlite://app.db" (relative to the current folder; an absolute path has three slashes), "sqlite::memory:",
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
      def connect(address = self.address, pool: 10, timeout: 5, query_timeout: nil, prepared: true, max_idle: 300, leak_after: 30, replicas: [], sticky: Replicas::STICKY, replica_fallback: true,
        **options)
        raise ConfigurationError, "the address of the database is missing: Pelton::Record.connect(\"sqlite://app.db\"), or Pelton::Record.address = before" if address.nil?
        parsed = Address.new(address)
        raise ConfigurationError, "the pool has one connection or more, not #{pool.inspect}" unless pool.is_a?(Integer) && pool.positive?
        driver = driver_of(parsed)
        settings = driver.options(parsed, pool: pool).merge(Replicas.new(replicas, parsed, fallback: replica_fallback).settings(pool: pool, sticky: sticky))
        database = Sequel.connect({pool_class: Pool, max_connections: pool, pool_timeout: timeout, max_idle: max_idle, leak_after: leak_after, prepared: prepared,
          query_timeout: query_timeout, driver: driver, test: false, keep_reference: false, **parsed.options, **settings, **options})
        driver.database = database
        driver.prepare(database)
        database.extend_datasets(Routing) if database.sharded?
        database.extend(Database)
        database.test_connection
        Sequel.synchronize { Sequel::DATABASES.push(database) } # where a plain Sequel::Model looks for its own
        @databases += [database]
        @metrics ||= Pelton::Metrics.add(Metrics::FAMILIES) { Metrics.of(databases) }
        self.database = database
      rescue Sequel::AdapterNotFound => error
        raise ConfigurationError, "#{parsed}: #{error.message}"
      end

      # Closes all connections of all databases. Those in use are closed when they come back.
      def disconnect
        @databases.each(&:disconnect)
        Sequel.synchronize { @databases.each { |database| Sequel::DATABASES.delete(database) } }
        Sequel::Model.db = nil if @databases.include?(Sequel::Model.instance_variable_get(:@db))
        @databases = []
        @metrics = Pelton::Metrics.remove(@metrics)
        self.database = nil
      end

      private

      def driver_of(address)
        require_relative "driver/#{address.driver}"
        const_get(DRIVERS.fetch(address.driver), false).new(address.to_s)
      end
    end
  end
end
