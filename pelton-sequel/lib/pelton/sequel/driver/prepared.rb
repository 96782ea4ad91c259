# frozen_string_literal: true

module Pelton
  module Sequel
    # Prepares repeated queries on PostgreSQL by name, on each connection, so that the server plans them once. Sequel's
    # extension pg_auto_parameterize turns values into parameters, so queries that differ only in values have the same
    # text.
    # @private
    module Prepared
      STATEMENTS = 200 # texts that a connection remembers
      CHANGED = "cached plan must not change result type" # the schema has changed since PREPARE

      # May be prepared without parameters: a single statement that does not change the session
      PLAIN = /\A(?:SELECT|WITH)\b[^;]*\z/
      NONE = [].freeze
      # Errors that a stale prepared statement may cause. They have changed nothing.
      STALE = {
        "0A000" => CHANGED, "42804" => "datatype mismatch", "42846" => "cannot coerce",
        "42883" => "undefined operator", "22P02" => "invalid text representation",
        "22003" => "numeric value out of range", "22007" => "invalid datetime", "22008" => "datetime overflow"
      }.freeze
      # Instance variables of a connection: the options of a transaction that has sent no statement yet; whether
      # statements are stale.
      BEGUN = :@pelton_begun
      FORGET = :@pelton_forget
      private_constant :PLAIN, :NONE, :STALE, :BEGUN, :FORGET

      # A statement's name, and its rows' column names and converters, which the first reader of a row sets.
      Statement = Struct.new(:name, :columns)

      # Runs a statement that is certain to be repeated.
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
        result = log_connection_yield(sql, connection, arguments) do
          connection.exec_prepared(statement.name, arguments)
        end
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

      # @return [Boolean] whether the statement may run again: outside of transactions, or as the first statement of a
      #   transaction, which begins anew. Any other transaction has failed; its statements are forgotten when it ends
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

      def rollback_transaction(connection, options = ::Sequel::OPTS)
        super
        return unless connection.instance_variable_get(FORGET) && connection.transaction_status == PG::PQTRANS_IDLE
        connection.instance_variable_set(FORGET, nil)
        forget_statements(connection)
      end

      # Runs the statement unprepared. If that works, the schema has changed, and all statements prepared before are
      # forgotten.
      def unprepared(connection, statement, sql, arguments)
        result = connection.check_disconnect_errors do
          log_connection_yield(sql, connection, arguments) { connection.async_exec_params(sql, arguments) }
        end
        statement.columns = nil
        forget_statements(connection)
        result
      end

      # The statement for a text that was seen before. Returns nil the first time, because the text may never be
      # repeated.
      def statement(connection, sql, again: false)
        texts = connection.instance_variable_get(:@pelton_statements) ||
          connection.instance_variable_set(:@pelton_statements, {})
        statement = texts.delete(sql) and return texts[sql] = statement # now the most recently used
        statement = prepare(connection, sql) if again || statement == false
        texts[sql] = statement || false
        drop_oldest(connection, texts) if texts.size > STATEMENTS
        statement
      end

      def prepare(connection, sql)
        number = (connection.instance_variable_get(:@pelton_number) || 0) + 1
        connection.instance_variable_set(:@pelton_number, number)
        name = "pelton_#{number}"
        connection.check_disconnect_errors do
          log_connection_yield("PREPARE #{name} AS #{sql}", connection) { connection.prepare(name, sql) }
        end
        Statement.new(name)
      end

      def drop_oldest(connection, texts)
        _, statement = texts.shift
        if statement
          log_connection_yield("DEALLOCATE #{statement.name}", connection) do
            connection.async_exec("DEALLOCATE #{statement.name}")
          end
        end
      end

      def forget_statements(connection)
        connection.instance_variable_set(:@pelton_statements, {})
        connection.prepared_statements.clear
        log_connection_yield("DEALLOCATE ALL", connection) { connection.async_exec("DEALLOCATE ALL") }
      end
    end

    # Prepares nothing at the server, for pgbouncer: the next query may reach another session.
    # @private
    module Unprepared
      private

      def execute_prepared_statement(connection, name, options = ::Sequel::OPTS, &block)
        connection.execute(prepared_statement(name).prepared_sql, options[:arguments], &block)
      end
    end
  end
end
