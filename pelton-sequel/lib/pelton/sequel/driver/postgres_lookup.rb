# frozen_string_literal: true

require_relative "lookup"

module Pelton
  module Sequel
    # For PostgreSQL, by a prepared statement.
    # @private
    class PostgresLookup < Lookup
      ROWS = ::Sequel::Postgres::Dataset
      BIGINT = (-2**63...2**63)
      private_constant :BIGINT

      def initialize(dataset, sql)
        super
        # A number beyond the column's range matches no row, and is no error.
        @texts = {Integer => "#{sql}$1::int8", String => "#{sql}$1"}.transform_values(&:freeze)
      end

      # (see Lookup#find)
      def find(key)
        super if key.is_a?(String) ? !key.include?("\0") : BIGINT.cover?(key)
      end

      private

      def row(connection, key)
        key = Text.utf8(key) if key.is_a?(String)
        @database.execute_prepared(connection, @texts.fetch(key.class), [key]) do |result, statement|
          next if result.ntuples.zero?
          columns = (statement.columns ||= columns(result))
          values = result.tuple_values(0)
          row = {}
          i = 0
          columns.each do |name, converter|
            value = values[i]
            row[name] = (value && converter) ? converter.call(value) : value
            i += 1
          end
          row
        end
      end

      def columns(result)
        converters = @database.conversion_procs
        result.fields.each_with_index.map { |name, i| [name.to_sym, converters[result.ftype(i)]] }
      end
    end
  end
end
