# frozen_string_literal: true

require "pelton/sql_text"

module Pelton
  module Sequel
    # Wraps each query of a database with {Pool}: refuses queries of a fiber that does not hold the connection, limits
    # their time, measures them for the extension pelton_statistics, and discards a connection whose query was
    # interrupted.
    # @private
    module Queries
      ROLLBACK_TIMEOUT = 1 # seconds

      LateRollback = Class.new(Pelton::Error)
      private_constant :LateRollback

      # @return [Driver]
      attr_reader :driver

      # @return [Numeric, nil] seconds for each query; nil: no limit besides those around the call, such as
      #   Pelton.timeout
      attr_accessor :query_timeout

      def self.extended(database)
        database.instance_exec do
          @driver = pool.driver
          @query_timeout = opts[:query_timeout] && Float(opts[:query_timeout])
        end
      end

      # Called by Sequel and its adapters around each query.
      #
      # @raise [SharedConnectionError] if another fiber holds the connection
      # @raise [ConnectionError] if an earlier query on it was interrupted
      def log_connection_yield(sql, connection, arguments = nil)
        slot = pool.slot_of(connection)
        return super unless slot # being opened
        check(slot)
        @driver.refuse(sql, connection)
        slot.busy = sql
        event = Notifications.start("query.sequel") { {database: self, sql: sql} } if @statistics
        start = Clock.now
        begin
          result = if @query_timeout
            limited(sql) { super(sql, connection, arguments) { yield } }
          else
            skip_logging? ? yield : super
          end
          done = true
          result
        rescue Exception => error # standard:disable Lint/RescueException -- raised again
          done = error.is_a?(StandardError) && !error.is_a?(Pelton::Error) && !error.is_a?(::Timeout::Error)
          raise
        ensure
          slot.busy = nil
          interrupted(slot) unless done
          @statistics&.query(event, Clock.now - start, error)
        end
      end

      # @param connection [Object] one that this fiber holds, or an idle one
      # @return [Boolean] whether it is usable; false for a closed one
      # @raise [SharedConnectionError] if another fiber holds it
      # @asynchronous
      def valid_connection?(connection)
        slot = pool.slot_of(connection)
        return false if slot.nil? || slot.spoiled
        slot.fiber.nil? ? pool.borrow(slot) { super } : super
      end

      private

      def check(slot)
        unless slot.fiber.equal?(Fiber.current)
          raise SharedConnectionError, "the connection belongs to another " \
            "fiber#{": #{slot.inspect_holder}" if slot.fiber}. Call the database inside your own " \
            "block of `synchronize` or `transaction`, and pass no connection to other tasks"
        end
        if slot.busy
          raise SharedConnectionError, "the connection is in the middle of another query: #{outline(slot.busy)}"
        end
        if slot.spoiled
          raise ConnectionError, "an earlier query was interrupted, so this connection cannot be used any more"
        end
      end

      def limited(sql, &block)
        Pelton::Sequel.limit(@query_timeout, Pelton::TimeoutError,
          "the query took longer than #{@query_timeout} s: #{outline(sql)}", &block)
      end

      # The beginning of a query, for error messages.
      def outline(sql) = SQLText.without_values(sql, database_type)[0, 200]

      def disconnect_error?(error, options) = super || @driver.disconnect?(error)

      # Notes that an exception has interrupted a query, which may still run and send rows.
      def interrupted(slot)
        slot.spoiled = slot.interrupted = true if @driver.unusable_after_interruption?
      end

      # A spoiled connection's session is closed, which rolls back. So is one whose server does not answer: the fiber
      # was cancelled or is out of time, so it must not wait, and keeps its own error.
      def rollback_transaction(connection, options = ::Sequel::OPTS)
        slot = pool.slot_of(connection)
        return if slot&.spoiled
        Pelton::Sequel.limit(ROLLBACK_TIMEOUT, LateRollback, "no answer to ROLLBACK") { super }
      rescue LateRollback
        slot.spoiled = true if slot
      end
    end
  end
end
