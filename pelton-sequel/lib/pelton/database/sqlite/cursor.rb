# frozen_string_literal: true

module Pelton
  module Database
    module SQLite
      # The rows of a statement. The first ones have been read; others are read when they are wanted, while the statement stays open.
      # @private
      class Cursor
        include Opaque

        CHUNK = 200 # rows that are read at a time

        # @return [Array<Symbol>] the columns' names
        attr_reader :columns

        # @return [Hash{Symbol => #call}] converters of the columns that need one
        attr_reader :converters

        # @param connection [Connection]
        # @param query [Extralite::Query] bound
        # @asynchronous
        def initialize(connection, query, converters)
          @connection = connection
          @query = query
          @converters = converters
          @columns = query.columns
          read
        end

        # Yields each row.
        #
        # @yieldparam row [Hash{Symbol => Object}]
        # @asynchronous
        def each
          until @rows.empty?
            close if @query.eof? # before the block runs, which may take its time
            @rows.each { |row| yield Types.convert(row, @converters) }
            break unless @query
            read
          end
        end

        # Gives the statement back.
        def close
          @connection.keep(@query) if @query
          @query = nil
        end

        private

        def read
          @rows = @connection.run { @query.next(CHUNK) }
        end
      end
    end
  end
end
