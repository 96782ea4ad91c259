# frozen_string_literal: true

module Pelton
  module Sequel
    # Finds on the same column of the same model that share a query. Each caller gets its own object. If the query fails, each caller repeats
    # its find alone, and gets its own error.
    # @private
    class Batch
      include Opaque

      SIZE = 5000 # keys of a query: PostgreSQL takes at most 65,535 values

      def initialize(model, column, key)
        @model = model
        @column = column
        @first = key
      end

      # @return [Boolean] whether no other find has joined
      def alone? = @rows.nil?

      # Adds a find before the query is sent.
      def join(key)
        share unless @rows
        @keys[key] = @keys.fetch(key, 0) + 1
        @waiting += 1
        wait(key)
      end

      # Sends the query on a separate fiber, so that cancelling a caller does not end it for the others.
      def start
        @model.db.statistics.merged += @waiting - 1 if @model.db.respond_to?(:statistics)
        @task = Pelton.spawn { query }
      end

      # @return [Sequel::Model, nil]
      def wait(key)
        rows = @rows.await # an error is a copy for each caller, with the caller's lines
        row = rows && rows[key]
        return @model.dataset.row_proc.call((@keys[key] == 1) ? row : copy(row)) if row
        @model.find_alone(@column, key) if rows.nil? || key.is_a?(String) # the database's collation may find it equal
      ensure
        @waiting -= 1
        @task&.cancel if @waiting.zero? && !@rows.done?
      end

      private

      # A caller may change its object's values in place.
      def copy(value)
        case value
        when Hash then value.transform_values { |one| copy(one) }
        when Array then value.map { |one| copy(one) }
        else value.dup
        end
      end

      # Most finds stay alone and skip this.
      def share
        @rows = Operation.new.errback {} # no error is reported if all callers have been cancelled
        @keys = {@first => 1} # key => number of callers
        @waiting = 1
      end

      def query
        rows = @keys.keys.each_slice(SIZE).flat_map { |keys| @model.dataset.naked.where(@column => keys).all }
        @rows.succeed(rows.to_h { |row| [row[@column].then { |key| key.is_a?(Numeric) ? key.to_i : key }, row] })
      rescue ::Sequel::DatabaseConnectionError, ::Sequel::DatabaseDisconnectError, Pelton::Error => error
        @rows.fail(error)
      rescue
        @rows.succeed(nil)
      ensure
        @rows.fail(Error.new("the query of #{@model} that several fibers shared was cancelled")) unless @rows.done?
      end
    end
  end
end
