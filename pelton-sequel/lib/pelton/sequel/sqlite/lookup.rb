# frozen_string_literal: true

require_relative "../driver/lookup"

module Pelton
  module Sequel
    module SQLite
      # For SQLite, by a prepared statement.
      # @private
      class Lookup < Pelton::Sequel::Lookup
        include Opaque

        ROWS = Dataset
        INTEGERS = (-2**63...2**63)
        private_constant :INTEGERS

        def initialize(dataset, sql)
          super
          @sql = "#{sql}?".freeze
        end

        # (see Sequel::Lookup#find)
        def find(key)
          super unless key.is_a?(Integer) && !INTEGERS.cover?(key)
        end

        private

        def row(connection, key)
          connection.refresh(@database.schema_generation)
          key = Text.utf8(key) if key.is_a?(String)
          @database.log_connection_yield(@sql, connection) { connection.first(@sql, key, @database.conversion_procs) }
        end

        def failed(connection, error)
          return super unless error.is_a?(::Extralite::Error)
          @database.send(:raise_error, error, code: connection.error_code)
        end
      end
    end
  end
end
