# frozen_string_literal: true

module Pelton
  module Web
    class RateLimit
      # Counts of one process: where there is no memcached, several processes count each for themselves.
      class Memory
        # Counts that are kept at most. Beyond that the oldest ones are dropped.
        MOST = 100_000
        private_constant :MOST

        # @param most [Integer] counts
        def initialize(most: MOST)
          @most = most
          @counts = {}
          @mutex = Mutex.new
        end

        # As {Memcached::Client#incr}: the time begins with the first call.
        #
        # @param ttl [Numeric] seconds
        # @return [Integer] the count
        def incr(key, amount = 1, initial: amount, ttl: nil, timeout: nil)
          @mutex.synchronize do
            count, ends = @counts[key]
            next @counts[key][0] = count + amount if count && Clock.now < ends
            @counts.delete(key) # so that it becomes the newest one
            make_room if @counts.size >= @most
            @counts[key] = [initial, Clock.now + ttl]
            initial
          end
        end

        # @return [Integer] counts that are kept
        def size = @counts.size

        # Forgets all counts, as between two tests.
        def clear
          @mutex.synchronize { @counts.clear }
          nil
        end

        private

        # A tenth at a time: looking through all of them for each new one would help an attacker.
        def make_room
          now = Clock.now
          @counts.delete_if { |_, (_, ends)| ends <= now }
          @counts.shift while @counts.size > @most * 9 / 10
        end
      end
    end
  end
end
