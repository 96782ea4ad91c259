# frozen_string_literal: true

require "pelton/sql_text"

module Pelton
  module Database
    # What a database with {Pool} does around each query: it refuses those of a fiber that does not hold the connection, limits their time,
    # and gives up a connection whose query was interrupted.
    # @private
    module Queries
      ROLLBACK_TIMEOUT = 1 # seconds

      LateRollback = Class.new(Pelton::Error)
      private_constant :LateRollback

      # @return [Driver]
      attr_reader :driver

      # @return [Numeric, nil] seconds that a query may take; nil: as long as it likes, for the limits around it (a request's, Pelton.timeout's) count
      attr_accessor :query_timeout

      def self.extended(database)
        database.instance_exec do
          @driver = pool.driver
          @query_timeout = opts[:query_timeout] && Float(opts[:query_timeout])
        end
      end

      # Sequel and its adapters call it around each query.
      #
      # @raise [SharedConnectionError] when another fiber holds the connection
      # @raise [ConnectionError] when an earlier query was interrupted on it
      def log_connection_yield(sql, connection, arguments = nil)
        slot = pool.slot_of(connection)
        return super unless slot # it is being opened
        check(slot)
        @driver.refuse(sql, connection)
        slot.busy = sql
        begin
          result = if @query_timeout
            limited(sql) { super(sql, connection, arguments) { yield } }
          else
            skip_logging? ? yield : super
          end
          done = true
          result
        rescue => error
          done = !error.is_a?(Pelton::Error) && !error.is_a?(::Timeout::Error)
          raise
        ensure
          slot.busy = nil
          interrupted(slot) unless done
        end
      end

      # @param connection [Object] one that this fiber holds, or that lies in the pool
      # @return [Boolean] whether it can be used; false for one that has been closed
      # @raise [SharedConnectionError] when another fiber holds it
      # @asynchronous
      def valid_connection?(connection)
        slot = pool.slot_of(connection)
        return false if slot.nil? || slot.spoiled
        slot.fiber.nil? ? pool.borrow(slot) { super } : super
      end

      private

      def check(slot)
        unless slot.fiber.equal?(Fiber.current)
          raise SharedConnectionError, "the connection belongs to another fiber#{": #{slot.inspect_holder}" if slot.fiber}. Call the database inside your own " \
            "block of `synchronize` or `transaction`, and pass no connection to other tasks"
        end
        raise SharedConnectionError, "the connection is in the middle of another query: #{outline(slot.busy)}" if slot.busy
        raise ConnectionError, "an earlier query was interrupted, so this connection cannot be used any more" if slot.spoiled
      end

      def limited(sql, &block)
        Pelton::Database.limit(@query_timeout, Pelton::TimeoutError, "the query took longer than #{@query_timeout} s: #{outline(sql)}", &block)
      end

      # The beginning of a query, for messages.
      def outline(sql) = SQLText.without_values(sql, database_type)[0, 200]

      def disconnect_error?(error, options) = super || @driver.disconnect?(error)

      # An exception has interrupted a query: it may still run at the server, and its rows may still arrive.
      def interrupted(slot)
        slot.spoiled = slot.interrupted = true if @driver.unusable_after_interruption?
      end

      # The session of a spoiled connection is closed, and that rolls back. So it is where the server does not answer: the fiber, whose
      # limit has passed or which is cancelled, must not wait for that, and gets its own error.
      def rollback_transaction(connection, options = Sequel::OPTS)
        slot = pool.slot_of(connection)
        return if slot&.spoiled
        Pelton::Database.limit(ROLLBACK_TIMEOUT, LateRollback, "no answer to ROLLBACK") { super }
      rescue LateRollback
        slot.spoiled = true if slot
      end
    end
  end
end
