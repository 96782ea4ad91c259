# frozen_string_literal: true

require_relative "lock_queue"

module Pelton
  module ActiveRecord
    # Lets a request wait for SQLite's lock without blocking the others, with the adapter `sqlite3`.
    #
    # Rails 7 waits inside SQLite (`timeout:` in database.yml), which blocks the process. If the lock's holder is parked
    # in its transaction, nothing moves until the timeout, and then the writer fails with
    # ActiveRecord::StatementTimeout. Here the writer waits in a {LockQueue}, which parks its fiber. Rails 8 sleeps
    # between its tries, so the lock goes to whoever tries first after its release; and with a gem sqlite3 before
    # 2.10.2 an error that ends the sleep leaves SQLite's mutex locked: the next thread that uses the connection blocks
    # the process forever.
    module SQLiteLocks
      class << self
        # @param adapter [Class] ActiveRecord::ConnectionAdapters::SQLite3Adapter
        def install(adapter) = adapter.prepend(self)
      end

      # A transaction that takes the lock when it begins does not overtake those that wait for it.
      def begin_db_transaction
        return super unless @lock_queue&.any? && immediate_transactions?
        begin_lock_wait
        @lock_queue.wait(*@lock_wait)
        @began_to_wait = true
        super
      ensure
        @began_to_wait = false
      end

      def commit_db_transaction
        super
        @lock_queue&.released
      end

      def exec_rollback_db_transaction
        super
        @lock_queue&.released
      end

      private

      def configure_connection
        super
        return unless (@lock_timeout = @config[:timeout] && Float(@config[:timeout]) / 1000)
        @lock_queue = LockQueue.of(@config[:database])
        connection = @raw_connection || @connection # its name in Rails 7.0
        connection.busy_handler { |attempt| wait_for_lock(attempt) }
      end

      def begin_lock_wait
        @lock_wait = [LockQueue::Place.new, Clock.now + @lock_timeout]
      end

      # Rails 8 begins all transactions so.
      def immediate_transactions?
        respond_to?(:begin_deferred_transaction) || @config[:default_transaction_mode].to_s == "immediate"
      end

      # Called by SQLite from C, whose frames an exception must not unwind: an error that ends the wait (a cancelled
      # task, a limit) is stored, SQLite gives the statement up, and {#translate_exception} raises the error.
      #
      # @return [Boolean] whether SQLite should retry
      def wait_for_lock(attempt)
        begin_lock_wait if attempt.zero? && !@began_to_wait
        @lock_queue.wait(*@lock_wait)
      rescue Exception => error # standard:disable Lint/RescueException
        @ended_lock_wait = error
        false
      end

      def translate_exception(exception, ...)
        error, @ended_lock_wait = @ended_lock_wait, nil
        error || super
      end
    end
  end
end
