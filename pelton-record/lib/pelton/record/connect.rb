# frozen_string_literal: true

require "pelton/database"
require_relative "listener"

module Pelton
  module Record
    # The errors of databases are pelton-sequel's.
    ConnectionError = Database::ConnectionError
    ConfigurationError = Database::ConfigurationError
    PoolTimeoutError = Database::PoolTimeoutError
    SharedConnectionError = Database::SharedConnectionError

    # Of a database's datasets: `inspect` shows the query without values. Ruby's errors contain it; `sql` has them.
    module Inspection
      def inspect = "#<#{visible_class_name}: #{Relation::Condition.without_values(self).inspect}>"
    end
    private_constant :Inspection

    @databases = []
    @named = {}

    class << self
      # The address of the application's database, which {connect} takes when it is given none. An application sets it in its
      # config/database.rb, where `pelton db` finds it, too.
      #
      # @return [String, nil]
      attr_accessor :address

      # @return [Array<Sequel::Database>] those that are connected
      attr_reader :databases

      # Connects models to a database. One connection is opened at once, to find mistakes early. The address that is connected already gives the
      # same database again.
      #
      # @example a second database, whose models say `self.database_name = :reports`
      #   Pelton::Record.connect("postgres://localhost/reports", name: :reports)
      # @param address [String] otherwise {address}
      # @param name [Symbol, nil] of a database beside the first one
      # @param options [Hash] see {Pelton::Database.connect}
      # @return [Sequel::Database]
      # @raise [ConfigurationError] if the address cannot be understood, the driver's gem is missing, or another database is connected by that name
      # @raise [ConnectionError] if nobody answers there, or refuses
      # @asynchronous
      def connect(address = self.address, name: nil, **options)
        raise ConfigurationError, "the address of the database is missing: Pelton::Record.connect(\"sqlite://app.db\"), or Pelton::Record.address = before" if address.nil?
        if (there = name ? @named[name] : @database)
          return there if there.driver.name == Database::Address.new(address).to_s
          raise ConfigurationError, "#{there.driver.name} is connected already#{" as #{name.inspect}" if name}: Pelton::Record.connect(address, name: :other) connects a second database, for models " \
            "with `self.database_name = :other`; Pelton::Record.disconnect ends the first"
        end
        database = Database.connect(address, **options)
        database.extend_datasets(Inspection)
        @databases += [database]
        name ? @named[name] = database : self.database = database
      end

      # @param name [Symbol, nil] see {connect}; nil: the database of the models that choose none
      # @return [Sequel::Database, nil]
      def database(name = nil) = name ? @named[name] : @database

      # @param database [Sequel::Database, nil]
      def database=(database)
        Model.database_changed unless @database.nil? || database.equal?(@database)
        @database = database
      end

      # Closes all connections of all databases. Those in use are closed when they come back.
      def disconnect
        @databases.each { |database| Database.disconnect(database) }
        @databases = []
        @named = {}
        @database = nil
        Model.database_changed
      end

      # The numbers of a database and its pool: `queries`, `errors`, `merged`, `query_time`, `pool` and `held` (pelton-sequel's `DB.stats`).
      #
      # @param database [Sequel::Database] of {connect}
      # @return [Hash{Symbol => Object}]
      # @raise [ConfigurationError] if no database is connected
      def stats(database = self.database) = connected(database).stats

      # Calls the block after each query: for a log of slow queries, or for tracing.
      #
      #     Pelton::Record.on_query { |sql, seconds| logger.warn(sql) if seconds > 0.5 }
      #
      # @yieldparam sql [String] without the values that were bound
      # @yieldparam duration [Float] seconds
      # @yieldparam error [Exception, nil]
      # @raise [ConfigurationError] if no database is connected
      # @raise [ArgumentError] without a block
      # @return [void]
      def on_query(&block) = connected(database).on_query(&block)

      private

      def connected(database) = database || raise(ConfigurationError, "no database is connected: call Pelton::Record.connect")
    end
  end
end
