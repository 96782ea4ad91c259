# frozen_string_literal: true

module Pelton
  module Sequel
    module SQLite
      # The rows of a statement, read in chunks while the statement stays open.
      # @private
      class Cursor
        include Opaque

        CHUNK = 200 # rows per read

        # @return [Array<Symbol>] the columns' names
        attr_reader :columns

        # @param connection [Connection]
        # @param query [Extralite::Query] with its values bound
        # @param converters [Hash{Symbol => #call}] by column
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
            close if @query.eof? # before the block runs, which may take long
            @rows.each { |row| yield Types.convert(row, @converters) }
            break unless @query
            read
          end
        end

        # Puts the statement back into the cache.
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
