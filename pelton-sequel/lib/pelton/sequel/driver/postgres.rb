# frozen_string_literal: true

require_relative "../driver"
require_relative "../text"
require_relative "column_types"
require_relative "prepared"

module Pelton
  module Sequel
    # PostgreSQL by the gem pg, which waits through Ruby's scheduler.
    # @private
    class PostgresDriver < Driver
      # @return [Hash] Sequel's options
      def options
        Driver.need("pg")
        {adapter: :postgres, encoding: "UTF8", treat_string_list_as_untyped_array: true}
      end

      def adapt(database) = database.extend_datasets(Text::Postgres)

      def prepare(database)
        database.extend(ColumnTypes::Postgres)
        database.extension(:pg_array)
        database.opts[:prepared] ? database.extension(:pelton_prepared) : database.extend(Unprepared)
      end

      # Logs the server's notices, such as why it ends a session. libpq would print them.
      def opened(connection)
        connection.type_map_for_queries = query_types
        connection.set_notice_processor { |text| Pelton.logger.warn("#{name}: #{text.strip}") }
      end

      # Whether the server has closed the connection meanwhile. Reads what has arrived, sends nothing.
      def usable?(connection)
        2.times { connection.consume_input } # the first may read the server's last message, the second the end
        connection.status == PG::CONNECTION_OK && !connection.finished?
      rescue PG::Error
        false
      end

      def answers?(connection)
        connection.async_exec("").clear
        true
      rescue PG::Error
        false
      end

      def cancel(connection, _slot) = connection.cancel

      # Text that is no value of the column's type: SQLSTATE class 22.
      def impossible_value?(error) = error.wrapped_exception.is_a?(PG::DataException)

      # Points the socket elsewhere, so that the parent's session stays open when the connection is collected.
      def forget(connections)
        connections.each do |connection|
          IO.for_fd(connection.socket_io.fileno, autoclose: false).reopen(File::NULL, "r+")
        end
      rescue PG::Error, SystemCallError
        nil
      end

      private

      # Sequel's encoders without pg's encoder of floats, which writes 16 digits: not every float survives that.
      def query_types
        @query_types ||= PG::TypeMapByClass.new.tap do |types|
          types[Integer] = PG::TextEncoder::Integer.new
          types[TrueClass] = types[FalseClass] = PG::TextEncoder::Boolean.new
        end
      end

      # Only prepared statements make it faster.
      def lookup_class
        return unless database.is_a?(Prepared)
        require_relative "postgres_lookup"
        PostgresLookup
      end
    end
  end
end
