# frozen_string_literal: true

require_relative "../driver"
require_relative "indexes"

module Pelton
  module Record
    # SQLite, through extralite.
    # @private
    class SQLiteDriver < Driver
      INHERITED = [] # a child must neither use nor close its parent's connections, so they must not be collected either
      private_constant :INHERITED

      # @param address [Address]
      # @param options [Hash]
      # @return [Hash] Sequel's options
      def options(address, pool:)
        Driver.need("extralite-bundle", "extralite")
        require_relative "../sqlite"
        @file = address.options[:database].to_s
        readers = address.memory? ? {} : {servers: {read_only: {}}, server_sizes: {read_only: pool}}
        {adapter: :pelton_sqlite, max_connections: 1, **readers}
      end

      def prepare(database)
        database.extend(Indexes)
      end

      # A statement that was interrupted has ended.
      def unusable_after_interruption? = false

      # (see Driver#connection_error)
      def connection_error(error)
        folder = File.dirname(@file)
        return super if @file.start_with?(":") || File.directory?(folder)
        ConfigurationError.new("#{name}: there is no folder #{folder}: create it")
      end

      def forget(connections) = INHERITED.concat(connections)

      private

      def lookup_class = SQLite::Lookup
    end
  end
end
