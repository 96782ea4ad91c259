# frozen_string_literal: true

require "pelton/sequel"
require_relative "listener"

module Pelton
  module Record
    # The errors of pelton-sequel.
    ConnectionError = Sequel::ConnectionError
    ConfigurationError = Sequel::ConfigurationError
    PoolTimeoutError = Sequel::PoolTimeoutError
    SharedConnectionError = Sequel::SharedConnectionError

    # For a database's datasets: `inspect`, which appears in Ruby's errors, shows the query without values; `sql` has them.
    module Inspection
      def inspect = "#<#{visible_class_name}: #{Relation::Condition.without_values(self).inspect}>"
    end
    private_constant :Inspection

    @databases = []
    @named = {}

    class << self
      # @return [String, nil] Pelton::Sequel.address, which `pelton db` reads
      def address = Sequel.address

      # @param address [String, nil]
      def address=(address)
        Sequel.address = address
      end

      # @return [Array<Sequel::Database>] the connected databases
      attr_reader :databases

      # Connects models to a database. Opens one connection at once, to report mistakes early. The address of a connected database returns that
      # database again.
      #
      # @example a second database, for models with `self.database_name = :reports`
      #   Pelton::Record.connect("postgres://localhost/reports", name: :reports)
      # @param address [String] by default {address}
      # @param name [Symbol, nil] for databases other than the first one
      # @param options [Hash] see {Pelton::Sequel.connect}
      # @return [Sequel::Database]
      # @raise [ConfigurationError] if the address is invalid, the driver's gem is missing, or another database is connected by that name
      # @raise [ConnectionError] if the server does not answer or refuses the connection
      # @asynchronous
      def connect(address = self.address, name: nil, **options)
        raise ConfigurationError, "the address of the database is missing: Pelton::Record.connect(\"sqlite://app.db\"), or Pelton::Record.address = before" if address.nil?
        if (there = name ? @named[name] : @database)
          return there if there.driver.name == Sequel::Address.new(address).to_s
          raise ConfigurationError, "#{there.driver.name} is connected already#{" as #{name.inspect}" if name}: Pelton::Record.connect(address, name: :other) connects a second database, for models " \
            "with `self.database_name = :other`; Pelton::Record.disconnect ends the first"
        end
        database = Sequel.connect(address, **options)
        database.extend_datasets(Inspection)
        @databases += [database]
        name ? @named[name] = database : self.database = database
      end

      # @param name [Symbol, nil] see {connect}; nil for the default database
      # @return [Sequel::Database, nil]
      def database(name = nil) = name ? @named[name] : @database

      # @param database [Sequel::Database, nil]
      def database=(database)
        Model.database_changed unless @database.nil? || database.equal?(@database)
        @database = database
      end

      # Closes all connections of all databases, those in use when they are given back.
      def disconnect
        @databases.each { |database| Sequel.disconnect(database) }
        @databases = []
        @named = {}
        @database = nil
        Model.database_changed
      end

      # Returns the counters of a database and its pool: `queries`, `errors`, `merged`, `query_time`, `pool` and `held` (pelton-sequel's
      # `DB.stats`).
      #
      # @param database [Sequel::Database] as {connect} returned it
      # @return [Hash{Symbol => Object}]
      # @raise [ConfigurationError] if no database is connected
      def stats(database = self.database)
        raise ConfigurationError, "no database is connected: call Pelton::Record.connect" unless database
        database.stats
      end
    end
  end
end
