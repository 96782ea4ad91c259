# frozen_string_literal: true

module Pelton
  module Database
    # Finds that share a query: same model, same column. Each caller gets an object of its own, and an error of its own: when the
    # query fails, each asks alone.
    # @private
    class Batch
      include Opaque

      SIZE = 5000 # keys of a query at most: PostgreSQL takes 65,535 values

      def initialize(model, column, key)
        @model = model
        @column = column
        @first = key
      end

      # @return [Boolean] whether nobody has joined
      def alone? = @rows.nil?

      # Adds a find before the query is sent.
      def join(key)
        share unless @rows
        @keys[key] = @keys.fetch(key, 0) + 1
        @waiting += 1
        wait(key)
      end

      # Sends the query, on a fiber of its own: none of the callers may end it for the others.
      def start
        @model.db.statistics.merged += @waiting - 1 if @model.db.respond_to?(:statistics)
        @task = Pelton.spawn { query }
      end

      # @return [Sequel::Model, nil]
      def wait(key)
        rows = @rows.await # an error is a copy for each caller, with the caller's lines
        row = rows && rows[key]
        return @model.dataset.row_proc.call((@keys[key] == 1) ? row : copy(row)) if row
        @model.find_alone(@column, key) if rows.nil? || key.is_a?(String) # what differs here may be equal in the database's collation
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

      # Most finds are alone, and need none of this.
      def share
        @rows = Operation.new.errback {} # which nobody waits for any more when all have been cancelled
        @keys = {@first => 1} # and how many want it
        @waiting = 1
      end

      def query
        rows = @keys.keys.each_slice(SIZE).flat_map { |keys| @model.dataset.naked.where(@column => keys).all }
        @rows.succeed(rows.to_h { |row| [row[@column].then { |key| key.is_a?(Numeric) ? key.to_i : key }, row] })
      rescue Sequel::DatabaseConnectionError, Sequel::DatabaseDisconnectError, Pelton::Error => error
        @rows.fail(error)
      rescue
        @rows.succeed(nil)
      ensure
        @rows.fail(Error.new("the query of #{@model} that several fibers shared was cancelled")) unless @rows.done?
      end
    end
  end
end
