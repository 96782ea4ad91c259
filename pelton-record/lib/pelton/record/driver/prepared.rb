# frozen_string_literal: true

module Pelton
  module Record
    # Queries of PostgreSQL that come again are prepared by name, on each connection: the server plans them once. Sequel makes values
    # into parameters (its extension pg_auto_parameterize), so that queries with other values have the same text.
    # @private
    module Prepared
      STATEMENTS = 200 # texts that a connection remembers
      CHANGED = "cached plan must not change result type" # the schema has changed since the statement was prepared

      private

      def _execute(connection, sql, options, &block)
        arguments = options[:arguments]
        return super if !arguments || sql.is_a?(Symbol)
        name = statement_name(connection, sql.to_s) or return super
        arguments = arguments.map { |argument| bound_variable_arg(argument, connection) }
        result = execute_by_name(connection, name, sql, arguments)
        begin
          block ? yield(result) : result.cmd_tuples
        ensure
          result.clear
        end
      end

      def execute_by_name(connection, name, sql, arguments)
        log_connection_yield(sql, connection, arguments) { connection.exec_prepared(name, arguments) }
      rescue PG::FeatureNotSupported => error
        raise unless error.message.include?(CHANGED) && connection.transaction_status == PG::PQTRANS_IDLE
        forget_statements(connection)
        log_connection_yield(sql, connection, arguments) { connection.async_exec_params(sql, arguments) }
      rescue PG::Error => error
        connection.check_disconnect_errors { raise error }
      end

      # The name of a text that was seen before; nil the first time, for it may never come again.
      def statement_name(connection, sql)
        texts = connection.instance_variable_get(:@pelton_statements) || connection.instance_variable_set(:@pelton_statements, {})
        name = texts.delete(sql) # it is the newest from now on
        if name.nil?
          texts[sql] = false
          drop_oldest(connection, texts) if texts.size > STATEMENTS
          return
        end
        texts[sql] = name || prepare(connection, sql)
      end

      def prepare(connection, sql)
        number = (connection.instance_variable_get(:@pelton_number) || 0) + 1
        connection.instance_variable_set(:@pelton_number, number)
        "pelton_#{number}".tap do |name|
          connection.check_disconnect_errors { log_connection_yield("PREPARE #{name} AS #{sql}", connection) { connection.prepare(name, sql) } }
        end
      end

      def drop_oldest(connection, texts)
        _, name = texts.shift
        log_connection_yield("DEALLOCATE #{name}", connection) { connection.async_exec("DEALLOCATE #{name}") } if name
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
