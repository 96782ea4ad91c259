# frozen_string_literal: true

module Pelton
  module Sequel
    # A statement that finds a row by a unique column. Its text is built once, so a find only sends the value and reads
    # the row.
    # @private
    class Lookup
      include Opaque

      # @param dataset [Sequel::Dataset] all rows of a table
      # @param sql [String] the statement up to the value
      def initialize(dataset, sql)
        @dataset = dataset
        @database = dataset.db
        @pool = @database.pool
        @server = dataset.opts[:server] || :read_only
        @sql = sql
      end

      # @param key [Integer, String]
      # @return [Hash{Symbol => Object}, nil] the row
      # @raise [Sequel::DatabaseError]
      # @asynchronous
      def find(key)
        @pool.hold(@server) do |connection|
          row(connection, key)
        rescue => error
          failed(connection, error)
        end
      end

      private

      def failed(_connection, error)
        @database.send(:raise_error, error, classes: @database.send(:database_error_classes))
      end
    end
  end
end
