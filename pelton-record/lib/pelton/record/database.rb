# frozen_string_literal: true

require_relative "statistics"

module Pelton
  module Record
    # What every database of {Record.connect} does besides what Sequel does: it sees each query, refuses those of a fiber that does not
    # hold the connection, and gives up a connection whose query was interrupted.
    # @private
    module Database
      # @return [Statistics]
      attr_reader :statistics

      # @return [Driver]
      attr_reader :driver

      # @return [Numeric, nil] seconds that a query may take; nil: as long as it likes, for the limits around it (a request's, Pelton.timeout's) count
      attr_accessor :query_timeout

      def self.extended(database)
        database.instance_exec do
          @statistics = Statistics.new
          @driver = opts.fetch(:driver)
          @query_timeout = opts[:query_timeout]
        end
      end

      # Sequel and its adapters call it around each query.
      #
      # @raise [SharedConnectionError] when another fiber holds the connection
      # @raise [ConnectionError] when an earlier query was interrupted on it
      def log_connection_yield(sql, connection, arguments = nil, &block)
        slot = pool.slot_of(connection)
        return super unless slot # it is being opened
        check(slot)
        slot.busy = sql
        start = Clock.now
        begin
          result = @query_timeout ? limited(sql) { super(sql, connection, arguments, &block) } : super
          done = true
          result
        rescue => error
          done = !error.is_a?(Pelton::Error) && !error.is_a?(::Timeout::Error)
          raise
        ensure
          slot.busy = nil
          interrupted(slot) unless done
          @statistics.query(sql, Clock.now - start, error)
        end
      end

      private

      def check(slot)
        unless slot.fiber.equal?(Fiber.current)
          raise SharedConnectionError, "the connection belongs to another fiber#{": #{slot.inspect_holder}" if slot.fiber}. Call the database inside your own " \
            "block of `synchronize` or `transaction`, and pass no connection to other tasks"
        end
        raise SharedConnectionError, "the connection is in the middle of another query: #{slot.busy}" if slot.busy
        raise ConnectionError, "an earlier query was interrupted, so this connection cannot be used any more" if slot.spoiled
      end

      def limited(sql, &block)
        Record.limit(@query_timeout, Pelton::TimeoutError, "the query took longer than #{@query_timeout} s: #{sql[0, 200]}", &block)
      end

      def disconnect_error?(error, options) = super || @driver.disconnect?(error)

      # An exception has interrupted a query: it may still run at the server, and its rows may still arrive.
      def interrupted(slot)
        slot.spoiled = slot.interrupted = true if @driver.unusable_after_interruption?
      end

      # The session of a spoiled connection is closed, and that rolls back. A server that no longer answers must not hold up the fiber.
      def rollback_transaction(connection, options = Sequel::OPTS)
        return if pool.slot_of(connection)&.spoiled
        Pelton.timeout(pool.timeout) { super }
      end
    end
  end
end
