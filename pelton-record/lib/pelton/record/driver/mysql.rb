# frozen_string_literal: true

require_relative "../driver"

module Pelton
  module Record
    # MySQL and MariaDB, through trilogy, which waits by Ruby's scheduler.
    # @private
    class MySQLDriver < Driver
      # @param address [Address]
      # @return [Hash] Sequel's options
      def options(_address, **)
        Driver.need("trilogy")
        {adapter: :trilogy, connect_timeout: nil}.compact
      end

      def usable?(connection)
        connection.ping
        true
      rescue Trilogy::Error, SystemCallError, IOError
        false
      end

      # A second connection tells the server to end the query.
      def cancel(connection)
        id = connection_ids[connection] or return
        other = database.connect(:default)
        other.query("KILL QUERY #{Integer(id)}")
      ensure
        other&.close
      end

      def opened(connection)
        connection_ids[connection] = connection.connection_id
      end

      def closed(connection)
        connection_ids.delete(connection)
      end

      # trilogy closes its copy of the socket without a word.
      def forget(connections)
        connections.each(&:discard!)
      end

      private

      def connection_ids = @connection_ids ||= {}.compare_by_identity
    end
  end
end
