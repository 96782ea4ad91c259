# frozen_string_literal: true

require_relative "../driver"
require_relative "../text"
require_relative "column_types"
require_relative "prepared"

module Pelton
  module Database
    # PostgreSQL, through pg, which waits by Ruby's scheduler.
    # @private
    class PostgresDriver < Driver
      # @return [Hash] Sequel's options
      def options
        Driver.need("pg")
        {adapter: :postgres, encoding: "UTF8", treat_string_list_as_untyped_array: true}
      end

      def adapt(database)
        database.extend_datasets(Text::Postgres)
      end

      def prepare(database)
        database.extend(ColumnTypes::Postgres)
        database.extension(:pg_array)
        database.opts[:prepared] ? database.extension(:pelton_prepared) : database.extend(Unprepared)
      end

      # What the server says beside its answers, why it ends a session for example, belongs into the log. libpq would print it.
      def opened(connection)
        connection.type_map_for_queries = query_types
        connection.set_notice_processor { |text| Pelton.logger.warn("#{name}: #{text.strip}") }
      end

      # Whether the server has closed the connection meanwhile. What it has sent is read, nothing is asked.
      def usable?(connection)
        2.times { connection.consume_input } # the first one may read the server's last words, the second one its end
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

      def cancel(connection)
        connection.cancel
      end

      # A text that is no value of the column's type: SQLSTATE's class 22.
      def impossible_value?(error) = error.wrapped_exception.is_a?(PG::DataException)

      # The socket leads nowhere from now on: whatever the collector closes, the parent's session stays.
      def forget(connections)
        connections.each { |connection| IO.for_fd(connection.socket_io.fileno, autoclose: false).reopen(File::NULL, "r+") }
      rescue PG::Error, SystemCallError
        nil
      end

      private

      # Sequel's, without pg's encoder of floats, which writes 16 digits: not all floats come back from these.
      def query_types
        @query_types ||= PG::TypeMapByClass.new.tap do |types|
          types[Integer] = PG::TextEncoder::Integer.new
          types[TrueClass] = types[FalseClass] = PG::TextEncoder::Boolean.new
        end
      end

      # Without prepared statements it would not be faster.
      def lookup_class
        return unless database.is_a?(Prepared)
        require_relative "postgres_lookup"
        PostgresLookup
      end
    end
  end
end
