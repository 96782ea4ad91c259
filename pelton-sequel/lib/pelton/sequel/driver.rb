# frozen_string_literal: true

require_relative "address"
require_relative "driver/lookup"
require_relative "error"

module Pelton
  module Sequel
    # How drivers differ beyond their SQL: how a connection is checked, discarded, and left to the parent after a fork.
    # @private
    class Driver
      include Opaque

      CANCEL_TIMEOUT = 2 # seconds for the server to accept a cancellation

      # @return [String] the database's address, without a password
      attr_reader :name

      # @return [Sequel::Database]
      attr_accessor :database

      def initialize(name)
        @name = name
      end

      CLASSES = {sqlite: :SQLiteDriver, postgres: :PostgresDriver, mysql: :MySQLDriver}.freeze
      ADAPTERS = {pelton_sqlite: :sqlite, postgres: :postgres, trilogy: :mysql}.freeze
      private_constant :CLASSES, :ADAPTERS

      class << self
        # @param kind [Symbol] :sqlite, :postgres or :mysql
        # @param name [String]
        # @return [Driver]
        def of(kind, name)
          require_relative "driver/#{kind}"
          Pelton::Sequel.const_get(CLASSES.fetch(kind)).new(name)
        end

        # @param database [Sequel::Database]
        # @return [Driver] for adapters of Sequel, one that only discards connections
        def for(database)
          kind = ADAPTERS[database.adapter_scheme]
          name = Address.describe(kind || database.adapter_scheme, database.opts)
          kind ? of(kind, name) : new(name)
        end
      end

      # Adds what the pool needs to a database.
      def adapt(_database)
      end

      # Adds what {Sequel.connect} promises beyond the pool.
      def prepare(_database)
      end

      # A way to find rows by one column that is faster than a dataset.
      #
      # @param dataset [Sequel::Dataset] all rows of a table
      # @param sql [String] the statement up to the value
      # @return [Lookup, nil] nil if there is none, or if an extension of the dataset changes how rows are read
      def lookup(dataset, sql)
        kind = lookup_class or return
        if dataset.method(:fetch_rows).owner == kind::ROWS &&
            dataset.method(:output_identifier).owner == ::Sequel::UnmodifiedIdentifiers::DatasetMethods
          kind.new(dataset, sql)
        end
      end

      # @return [Boolean] whether an exception in the middle of a query leaves the connection in an unknown state
      def unusable_after_interruption? = true

      # @return [Boolean] whether a connection is alive after being idle
      # @asynchronous
      def usable?(_connection) = true

      # Called before each query.
      #
      # @raise [LimitError] if the server would refuse the query
      def refuse(_sql, _connection)
      end

      # @return [Boolean] whether the server answers on a connection; unlike {#usable?}, always asks it
      # @asynchronous
      def answers?(connection) = usable?(connection)

      # Closes a slot's connection and calls the block. If a query was interrupted on it, cancels the query at the
      # server, without keeping the caller waiting.
      def discard(slot)
        connection = slot.connection
        closed = false
        finish = lambda do |*|
          next if closed
          closed = true
          database.disconnect_connection(connection)
        ensure
          yield
        end
        if slot.interrupted
          in_background(finish) do
            Pelton::Sequel.limit(CANCEL_TIMEOUT, ConnectionError, "#{name}: it does not take the cancellation") do
              cancel(connection, slot)
            end
          end
        else
          finish.call
        end
      end

      # @return [Boolean] whether an error that Sequel does not know means that the connection is lost
      def disconnect?(_error) = false

      # @param error [Sequel::DatabaseError] of a query for the rows with a value
      # @return [Boolean] whether no row can have that value
      def impossible_value?(_error) = false

      # Called with each new connection.
      # @asynchronous
      def opened(_connection)
      end

      # Cancels the query that runs on a connection, at the server.
      #
      # @param _slot [Pool::Slot] its place
      # @asynchronous
      def cancel(_connection, _slot)
      end

      # @param error [Exception] of a new connection
      # @param name [String] the server's address, without a password
      # @return [Pelton::Error] whose message says what to do
      def connection_error(error, name = self.name)
        message = error.message.strip
        case message
        when /unknown database|database .* does not exist/i
          ConfigurationError.new("#{name}: there is no such database. Create it: pelton db create (#{message})")
        when /access denied|password authentication|no password supplied|role .* does not exist|no pg_hba/i
          ConfigurationError.new(
            "#{name}: the server does not let this user in: check the user and the password (#{message})"
          )
        when /refused|ENOENT|No such file|not known|getaddrinfo/i
          ConnectionError.new(
            "#{name}: nobody answers there: check that the server runs and listens at this address (#{message})"
          )
        else
          ConnectionError.new("#{name}: #{message}")
        end
      end

      # Drops connections after a fork, without a message to the server: their sessions are the parent's.
      def forget(connections)
      end

      # Loads a driver's gem.
      #
      # @raise [ConfigurationError] if it is not installed
      def self.need(gem, feature = gem)
        require feature
      rescue LoadError => error
        raise unless error.path == feature
        raise ConfigurationError, "the driver is missing: gem install #{gem}, or add gem #{gem.inspect} to the Gemfile"
      end

      private

      # @return [Class<Lookup>, nil]
      def lookup_class = nil

      # A stopping reactor may never start the task; `finish` is called in any case.
      def in_background(finish, &block)
        if Pelton.running?
          return Pelton.spawn(name: "cancel a query of #{name}", &block).callback(&finish).errback(&finish)
        end
        begin
          yield
        rescue ConnectionError, TimeoutError
          nil
        ensure
          finish.call
        end
      end
    end
  end
end
