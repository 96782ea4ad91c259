# frozen_string_literal: true

module Pelton
  module Rails
    # Lets a request wait for SQLite's lock without blocking the others, with the adapter `sqlite3`.
    #
    # Rails 7 waits inside SQLite (`timeout:` in database.yml), which blocks the process. If the lock's holder is parked in its transaction,
    # nothing moves until the timeout, and then the writer fails with ActiveRecord::StatementTimeout. Here the writer sleeps for a moment, which
    # parks its fiber, and retries. Rails 8 sleeps, too, but with a gem sqlite3 before 2.10.2 an error that ends the sleep leaves SQLite's mutex
    # locked: the next thread that uses the connection blocks the process forever.
    module SQLiteLocks
      # Seconds between attempts: the first pause, and the longest.
      FIRST_PAUSE = 0.0001
      LONGEST_PAUSE = 0.001

      class << self
        # @param adapter [Class] ActiveRecord::ConnectionAdapters::SQLite3Adapter
        def install(adapter) = adapter.prepend(self)
      end

      private

      def configure_connection
        super
        timeout = @config[:timeout] && Float(@config[:timeout]) / 1000
        connection = @raw_connection || @connection # its name in Rails 7.0
        connection.busy_handler { |attempt| wait_for_lock(attempt, timeout) } if timeout
      end

      # Called by SQLite from C, whose frames an exception must not unwind: an error that ends the wait (a cancelled task, a limit) is stored,
      # SQLite gives the statement up, and {#translate_exception} raises the error.
      #
      # @return [Boolean] whether SQLite should retry
      def wait_for_lock(attempt, timeout)
        @lock_wait_began = Clock.now if attempt.zero?
        return false if Clock.now - @lock_wait_began >= timeout
        sleep([FIRST_PAUSE * (attempt + 1), LONGEST_PAUSE].min)
        true
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
