# frozen_string_literal: true

require_relative "lookup"

module Pelton
  module Sequel
    # For MySQL. trilogy has no prepared statements, so the value becomes part of the text. The lookup converts the row
    # itself.
    # @private
    class MySQLLookup < Lookup
      ROWS = ::Sequel::Trilogy::Dataset
      FLAGS = {true => ::Sequel::Trilogy::Database::LOCAL_TIME_QUERY_FLAGS,
               false => ::Sequel::Trilogy::Database::QUERY_FLAGS}.freeze
      private_constant :FLAGS

      private

      def row(connection, key)
        sql = @dataset.literal_append(@sql.dup, key)
        convert_by_timezone(connection)
        result = @database.log_connection_yield(sql, connection) { connection.query(sql) }
        values = result.rows.first or return
        # The table may have been altered
        @fields, @symbols = result.fields, result.fields.map(&:to_sym) unless @fields == result.fields
        row = {}
        i = 0
        @symbols.each do |name|
          row[name] = values[i]
          i += 1
        end
        row
      end

      # The connection keeps these flags: setting and restoring them for each query would take longer than reading a
      # row.
      def convert_by_timezone(connection)
        zone = @database.timezone
        flags = FLAGS[zone.nil? || zone == :local]
        return if connection.instance_variable_get(:@pelton_flags) == flags
        connection.query_flags = flags
        connection.instance_variable_set(:@pelton_flags, flags)
      end
    end
  end
end
