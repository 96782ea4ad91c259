# frozen_string_literal: true

require_relative "../driver"
require_relative "../text"
require_relative "column_types"
require_relative "indexes"

module Pelton
  module Sequel
    # MySQL and MariaDB by the gem trilogy, which waits through Ruby's scheduler.
    # @private
    class MySQLDriver < Driver
      # @return [Hash] Sequel's options
      def options
        Driver.need("trilogy")
        {adapter: :trilogy, encoding: "utf8mb4"}
      end

      def adapt(database)
        database.extend_datasets(Text::MySQL)
        database.extend(Limited)
      end

      def prepare(database)
        database.extend(ColumnTypes::MySQL)
        database.extend(Indexes)
      end

      # trilogy mistakes Pelton's errors for system errors, because they have an `errno`, and fails on them.
      # @private
      module Limited
        # @asynchronous
        def connect(server)
          super
        rescue NoMethodError => error
          raise error.cause.is_a?(Pelton::Error) ? error.cause : error
        end
      end

      # The server closes the connection after a query that is too long, which would fail other fibers' queries, too.
      def refuse(sql, connection)
        limit = connection.instance_variable_get(:@pelton_longest)
        return unless limit && sql.bytesize >= limit
        raise LimitError, "the query has #{sql.bytesize} bytes, and the server takes less than #{limit}: see its " \
          "variable max_allowed_packet"
      end

      def usable?(connection)
        connection.ping
        true
      rescue Trilogy::Error, SystemCallError, IOError
        false
      end

      # Cancelling a query takes the server's number for the connection.
      def opened(connection)
        id, longest = connection.query("SELECT CONNECTION_ID(), @@max_allowed_packet").first
        connection.instance_variable_set(:@pelton_id, id)
        connection.instance_variable_set(:@pelton_longest, longest)
      end

      # A second connection to the same server sends KILL QUERY: on another one the number is a stranger's.
      def cancel(connection, slot)
        id = connection.instance_variable_get(:@pelton_id) or return
        other = database.pool.connect_beside(slot)
        other.query("KILL QUERY #{Integer(id)}")
      ensure
        other&.close
      end

      def disconnect?(error)
        error = error.wrapped_exception if error.is_a?(::Sequel::DatabaseError)
        error.is_a?(Trilogy::ConnectionError) || error.is_a?(IOError)
      end

      # Text with a character that the column's character set lacks.
      def impossible_value?(error)
        error.wrapped_exception.is_a?(Trilogy::Error) && [1267, 1270, 1271, 1300,
          3854].include?(error.wrapped_exception.error_code)
      end

      # trilogy closes its copy of the socket without a message.
      def forget(connections) = connections.each(&:discard!)

      private

      def lookup_class
        require_relative "mysql_lookup"
        MySQLLookup
      end
    end
  end
end
