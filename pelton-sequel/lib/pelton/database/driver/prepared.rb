# frozen_string_literal: true

module Pelton
  module Database
    # Queries of PostgreSQL that come again are prepared by name, on each connection: the server plans them once. Sequel makes values
    # into parameters (its extension pg_auto_parameterize), so that queries with other values have the same text.
    # @private
    module Prepared
      STATEMENTS = 200 # texts that a connection remembers
      CHANGED = "cached plan must not change result type" # the schema has changed since the statement was prepared

      PLAIN = /\A(?:SELECT|WITH)\b[^;]*\z/ # what may be prepared though it has no parameters: one statement, and none of the session's own
      NONE = [].freeze
      # Errors that may come from a statement whose columns had other types when it was prepared. They leave nothing done.
      STALE = {
        "0A000" => CHANGED, "42804" => "datatype mismatch", "42846" => "cannot coerce", "42883" => "undefined operator", "22P02" => "invalid text representation",
        "22003" => "numeric value out of range", "22007" => "invalid datetime", "22008" => "datetime overflow"
      }.freeze
      # A connection's variables: the options of a transaction without a statement so far; whether its statements are old.
      BEGUN = :@pelton_begun
      FORGET = :@pelton_forget
      private_constant :PLAIN, :NONE, :STALE, :BEGUN, :FORGET

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
        statement = statement(connection, sql.to_s) if !sql.is_a?(Symbol) && (arguments.any? || sql.match?(PLAIN))
        unless statement
          connection.instance_variable_set(BEGUN, nil)
          return super
        end
        arguments = arguments.map { |argument| bound_variable_arg(argument, connection) }
        result = execute_statement(connection, statement, sql, arguments)
        begin
          block ? yield(result) : result.cmd_tuples
        ensure
          result.clear
        end
      end

      def execute_statement(connection, statement, sql, arguments)
        result = log_connection_yield(sql, connection, arguments) { connection.exec_prepared(statement.name, arguments) }
        connection.instance_variable_set(BEGUN, nil)
        result
      rescue PG::Error => error
        return unprepared(connection, statement, sql, arguments) if stale?(error) && begin_anew(connection)
        connection.check_disconnect_errors { raise error }
      end

      def stale?(error)
        state = error.result&.error_field(PG::Result::PG_DIAG_SQLSTATE)
        STALE.key?(state) && (state != "0A000" || error.message.include?(CHANGED))
      end

      # @return [Boolean] whether the statement may run again: outside of transactions, and where it was the first one of its transaction,
      #   which begins anew. Any other has failed; its statements are forgotten when it ends
      def begin_anew(connection)
        return true if connection.transaction_status == PG::PQTRANS_IDLE
        options = connection.instance_variable_get(BEGUN)
        connection.instance_variable_set(FORGET, true) unless options
        return false unless options
        log_connection_execute(connection, rollback_transaction_sql)
        begin_new_transaction(connection, options)
        true
      end

      def begin_new_transaction(connection, options)
        super
        connection.instance_variable_set(BEGUN, options)
      end

      def begin_savepoint(connection, _options)
        connection.instance_variable_set(BEGUN, nil)
        super
      end

      def rollback_transaction(connection, options = Sequel::OPTS)
        super
        return unless connection.instance_variable_get(FORGET) && connection.transaction_status == PG::PQTRANS_IDLE
        connection.instance_variable_set(FORGET, nil)
        forget_statements(connection)
      end

      # Runs it as if it had never been prepared. When that works, the schema has changed: all that was prepared before it is forgotten.
      def unprepared(connection, statement, sql, arguments)
        result = connection.check_disconnect_errors { log_connection_yield(sql, connection, arguments) { connection.async_exec_params(sql, arguments) } }
        statement.columns = nil
        forget_statements(connection)
        result
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
