# frozen_string_literal: true

require "active_record"

module Pelton
  module Rails
    # Lets a task wait for a database connection as long as others return theirs: ActiveRecord::ConnectionTimeoutError comes when none was
    # returned for `checkout_timeout`. Active Record counts that time from the beginning of the wait, which suits servers that begin no more
    # requests than the pool has connections, and let the others wait without a limit. Here all requests have begun.
    #
    # Connections are granted in the order of the waits.
    module ConnectionWaits
      # Threads without a reactor wait as Active Record has it.
      def self.install = ::ActiveRecord::ConnectionAdapters::ConnectionPool::Queue.prepend(self)

      def add(...)
        @returned_at = Clock.now
        super
      end

      private

      # @raise [ActiveRecord::ConnectionTimeoutError]
      def wait_poll(timeout)
        Pelton.running? ? wait_for_progress(timeout, Clock.now) : super
      end

      def wait_for_progress(timeout, began)
        @num_waiting += 1
        loop do
          progress = [began, *@returned_at].max
          ActiveSupport::Dependencies.interlock.permit_concurrent_loads { @cond.wait(Clock.left(progress + timeout)) }
          return remove if any?
          now = Clock.now
          next if now < [progress, *@returned_at].max + timeout
          raise ::ActiveRecord::ConnectionTimeoutError,
            format("could not obtain a connection from the pool: none was returned for %0.3f seconds (waited %0.3f seconds); all pooled connections were in use", timeout, now - began)
        end
      ensure
        @num_waiting -= 1
      end
    end
  end
end
