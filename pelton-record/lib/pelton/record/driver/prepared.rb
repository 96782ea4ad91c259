# frozen_string_literal: true

module Pelton
  module Record
    # Queries of PostgreSQL that come again are prepared by name, on each connection: the server plans them once. Sequel makes values
    # into parameters (its extension pg_auto_parameterize), so that queries with other values have the same text.
    # @private
    module Prepared
      STATEMENTS = 200 # texts that a connection remembers
      CHANGED = "cached plan must not change result type" # the schema has changed since the statement was prepared

      PLAIN = /\A(?:SELECT|WITH)\b[^;]*\z/ # what may be prepared though it has no parameters: one statement, and none of the session's own
      NONE = [].freeze
      private_constant :PLAIN, :NONE

      # A statement by its name, and the columns of its rows: their names and converters. Whoever reads a row first sets them.
      Statement = Struct.new(:name, :columns)

      # Runs a statement that is certain to come again.
      #
      # @param sql [String] with $1 and so on
      # @param arguments [Array] as pg takes them
      # @yieldparam result [PG::Result]
      # @yieldparam statement [Statement]
      # @return the block's value
      # @asynchronous
      def execute_prepared(connection, sql, arguments)
        statement = statement(connection, sql, again: true)
        result = execute_statement(connection, statement, sql, arguments)
        yield result, statement
      ensure
        result&.clear
      end

      private

      def _execute(connection, sql, options, &block)
        arguments = options[:arguments] || NONE
        return super if sql.is_a?(Symbol) || (arguments.empty? && !sql.match?(PLAIN))
        statement = statement(connection, sql.to_s) or return super
        arguments = arguments.map { |argument| bound_variable_arg(argument, connection) }
        result = execute_statement(connection, statement, sql, arguments)
        begin
          block ? yield(result) : result.cmd_tuples
        ensure
          result.clear
        end
      end

      def execute_statement(connection, statement, sql, arguments)
        log_connection_yield(sql, connection, arguments) { connection.exec_prepared(statement.name, arguments) }
      rescue PG::FeatureNotSupported => error
        raise unless error.message.include?(CHANGED) && connection.transaction_status == PG::PQTRANS_IDLE
        statement.columns = nil
        forget_statements(connection)
        log_connection_yield(sql, connection, arguments) { connection.async_exec_params(sql, arguments) }
      rescue PG::Error => error
        connection.check_disconnect_errors { raise error }
      end

      # The statement of a text that was seen before; nil the first time, for it may never come again.
      def statement(connection, sql, again: false)
        texts = connection.instance_variable_get(:@pelton_statements) || connection.instance_variable_set(:@pelton_statements, {})
        statement = texts.delete(sql) and return texts[sql] = statement # it is the newest from now on
        statement = prepare(connection, sql) if again || statement == false
        texts[sql] = statement || false
        drop_oldest(connection, texts) if texts.size > STATEMENTS
        statement
      end

      def prepare(connection, sql)
        number = (connection.instance_variable_get(:@pelton_number) || 0) + 1
        connection.instance_variable_set(:@pelton_number, number)
        name = "pelton_#{number}"
        connection.check_disconnect_errors { log_connection_yield("PREPARE #{name} AS #{sql}", connection) { connection.prepare(name, sql) } }
        Statement.new(name)
      end

      def drop_oldest(connection, texts)
        _, statement = texts.shift
        log_connection_yield("DEALLOCATE #{statement.name}", connection) { connection.async_exec("DEALLOCATE #{statement.name}") } if statement
      end

      def forget_statements(connection)
        connection.instance_variable_set(:@pelton_statements, {})
        connection.prepared_statements.clear
        log_connection_yield("DEALLOCATE ALL", connection) { connection.async_exec("DEALLOCATE ALL") }
      end
    end

    # Nothing is prepared at the server, for pgbouncer: the next query may be another session's.
    # @private
    module Unprepared
      private

      def execute_prepared_statement(connection, name, options = Sequel::OPTS, &block)
        connection.execute(prepared_statement(name).prepared_sql, options[:arguments], &block)
      end
    end
  end
end
