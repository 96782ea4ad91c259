# frozen_string_literal: true

require "pelton/merging"

module Pelton
  module Sequel
    # Finds on the same column of the same model that share a query. Each caller gets its own object. If the query
    # fails, each caller repeats its find alone, and gets its own error.
    # @private
    class Batch < Merging::Batch
      SIZE = 5000 # keys of a query: PostgreSQL takes at most 65,535 values
      UNAVAILABLE = [::Sequel::DatabaseConnectionError, ::Sequel::DatabaseDisconnectError].freeze
      private_constant :UNAVAILABLE

      def initialize(model, column, key)
        super(model, key)
        @column = column
      end

      def start
        @model.db.statistics.merged += @waiting - 1 if @model.db.respond_to?(:statistics)
        super
      end

      private

      def rows(keys)
        rows = keys.each_slice(SIZE).flat_map { |slice| @model.dataset.naked.where(@column => slice).all }
        rows.to_h { |row| [row[@column].then { |key| key.is_a?(Numeric) ? key.to_i : key }, row] }
      end

      # @return [Sequel::Model, nil]
      def answer(key, rows)
        row = rows && rows[key]
        return @model.dataset.row_proc.call((callers(key) == 1) ? row : copy(row)) if row
        @model.find_alone(@column, key) if rows.nil? || key.is_a?(String) # the database's collation may find it equal
      end

      # A caller may change its object's values in place.
      def copy(value)
        case value
        when Hash then value.transform_values { |one| copy(one) }
        when Array then value.map { |one| copy(one) }
        else value.dup
        end
      end

      def unavailable = UNAVAILABLE
    end
  end
end
