# frozen_string_literal: true

require_relative "address"
require_relative "driver"
require_relative "inspection"
require_relative "listener"
require_relative "pool"
require_relative "replicas"
require_relative "statistics"

module Pelton
  module Sequel
    @databases = [].freeze

    class << self
      # The default address of {connect}. An application sets it in config/database.rb, which `pelton db` reads, too.
      #
      # @return [String, nil]
      attr_accessor :address

      # @return [Array<Sequel::Database>] what {connect} has connected, the first one first
      attr_reader :databases

      # Connects to a database with the pool, statistics, prepared statements, cancelled queries and keyset pages. Opens
      # one connection at once, to report mistakes early. Times are stored and returned in UTC, unless the program has
      # set one of Sequel's time zones before.
      #
      # @param address [String] by default {address}: "sqlite://app.db" (relative to the current folder; an absolute
      #   path has three slashes), "sqlite::memory:", "postgres://user:password@host:port/database",
      #   "mysql://user:password@host/database"; "mariadb:" and "trilogy:" mean "mysql:"
      # @param pool [Integer] maximum number of connections; for SQLite, of readers, with one more connection for writes
      # @param timeout [Numeric] seconds to wait for a connection from the pool, for a new connection, and for SQLite's
      #   lock
      # @param query_timeout [Numeric, nil] seconds for each query; nil: no limit besides those around the call
      # @param prepared [Boolean] whether repeated queries are prepared at the server; false for pgbouncer
      # @param max_idle [Numeric] seconds after which an idle connection is closed
      # @param leak_after [Numeric, nil] seconds that a fiber may hold a connection between queries before a warning
      #   names it, while a reactor runs; nil: never
      # @param replicas [Array<String>] addresses of read-only servers, which get the reads; writes go to the first
      #   address
      # @param sticky [Numeric] seconds for which a fiber that has written also reads from the primary, because replicas
      #   lag
      # @param replica_fallback [Boolean] whether reads go to the primary when all replicas fail; false: they raise
      # @param options [Hash] options of Sequel.connect
      # @return [Sequel::Database]
      # @raise [ConfigurationError] if the address is invalid, the driver's gem is missing, or the password or database
      #   is wrong
      # @raise [ConnectionError] if the server does not answer or refuses the connection
      # @asynchronous
      def connect(address = self.address, pool: 10, timeout: 5, query_timeout: nil, prepared: true, max_idle: 300,
        leak_after: 30, replicas: [], sticky: Replicas::STICKY,
        replica_fallback: true, **options)
        if address.nil?
          raise ConfigurationError, "the address of the database is missing: " \
            "Pelton::Sequel.connect(\"sqlite://app.db\"), or Pelton::Sequel.address = before"
        end
        parsed = Address.new(address)
        unless pool.is_a?(Integer) && pool.positive?
          raise ConfigurationError, "the pool has one connection or more, not #{pool.inspect}"
        end
        use_utc
        driver = Driver.of(parsed.driver, parsed.to_s)
        settings = driver.options.merge(Replicas.new(replicas, parsed,
          fallback: replica_fallback).settings(pool: pool, sticky: sticky))
        database = ::Sequel.connect({pool_class: Pool, max_connections: pool, pool_timeout: timeout,
          max_idle: max_idle, leak_after: leak_after, prepared: prepared,
          query_timeout: query_timeout, driver: driver, test: false, keep_reference: false, **parsed.options,
            **settings, **options})
        database.extension(:pelton_pool, :pelton_statistics, :pelton_page)
        database.extend_datasets(Inspection)
        driver.prepare(database)
        database.test_connection
        ::Sequel.synchronize do
          ::Sequel::DATABASES.push(database) # Sequel::Model uses the last one
          @databases = [*@databases, database].freeze
        end
        database
      rescue ::Sequel::AdapterNotFound => error
        raise ConfigurationError, "#{parsed}: #{error.message}"
      end

      # Closes the connections of a database, or of all that {connect} has connected: those in use when they are given
      # back. Removes it from Sequel's list, and from its models.
      #
      # @param database [Sequel::Database, nil] as {connect} returned it; nil: all
      def disconnect(database = nil)
        return databases.each { |one| disconnect(one) } && nil unless database
        database.disconnect
        Metrics.delete(database)
        ::Sequel.synchronize do
          ::Sequel::DATABASES.delete(database)
          @databases = (@databases - [database]).freeze
        end
        if defined?(::Sequel::Model) && database.equal?(::Sequel::Model.instance_variable_get(:@db))
          ::Sequel::Model.db = nil
        end
        nil
      end

      private

      # Without a zone, Sequel would store a process's local time, which another machine, or summer, reads as another
      # moment.
      def use_utc
        if %i[application_timezone database_timezone typecast_timezone].all? { |name| ::Sequel.public_send(name).nil? }
          ::Sequel.default_timezone = :utc
        end
      end
    end
  end
end
