# frozen_string_literal: true

require "active_record"

module Pelton
  module ActiveRecord
    # Lets a task wait for a database connection as long as others return theirs: ActiveRecord::ConnectionTimeoutError
    # comes when none was returned for `checkout_timeout`. Active Record counts that time from the beginning of the
    # wait, which suits servers that begin no more requests than the pool has connections, and let the others wait
    # without a limit. Here all requests have begun.
    #
    # Connections are granted to the oldest request first, and to others in the order of their waits. A request asks for
    # a connection several times: in the order of the waits it would queue after younger ones each time.
    module ConnectionWaits
      # One that waits: +order+ is when its request began, or else its wait, in nanoseconds.
      Place = Struct.new(:order, :condition)
      private_constant :Place

      # Threads without a reactor wait as Active Record has it.
      def self.install = ::ActiveRecord::ConnectionAdapters::ConnectionPool::Queue.prepend(self)

      def add(...)
        synchronize do
          @returned_at = Clock.now
          super
          grant
        end
      end

      private

      # @raise [ActiveRecord::ConnectionTimeoutError]
      def wait_poll(timeout)
        Pelton.running? ? wait_for_progress(timeout, Clock.now) : super
      end

      def wait_for_progress(timeout, began)
        place = Place.new(Reactor.current.request_began || (began * 1_000_000_000).to_i, @lock.new_cond)
        @num_waiting += 1
        loop do
          progress = [began, *@returned_at].max
          wait_at(place, progress + timeout)
          return remove if any?
          now = Clock.now
          next if now < [progress, *@returned_at].max + timeout
          raise ::ActiveRecord::ConnectionTimeoutError,
            format("could not obtain a connection from the pool: none was returned for %0.3f seconds (waited %0.3f " \
              "seconds); all pooled connections were in use", timeout, now - began)
        end
      ensure
        @num_waiting -= 1
      end

      def wait_at(place, deadline)
        places << place
        ActiveSupport::Dependencies.interlock.permit_concurrent_loads { place.condition.wait(Clock.left(deadline)) }
      ensure
        places.delete(place)
      end

      def grant
        place = places.min_by(&:order) or return
        places.delete(place)
        place.condition.signal
      end

      def places = @places ||= []
    end
  end
end
