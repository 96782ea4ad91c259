# frozen_string_literal: true

module Pelton
  module Web
    class RateLimit
      # Counters in one process's memory.
      class Memory
        # Number of counters, beyond which the oldest are dropped.
        MOST = 100_000
        private_constant :MOST

        # @param most [Integer] number of counters
        def initialize(most: MOST)
          @most = most
          @counts = {}
          @mutex = Mutex.new
        end

        # Like {Memcached::Client#incr}: the time starts with the first call.
        #
        # @param ttl [Numeric] seconds
        # @return [Integer] the count
        def incr(key, amount = 1, initial: amount, ttl: nil, timeout: nil)
          @mutex.synchronize do
            count, ends = @counts[key]
            next @counts[key][0] = count + amount if count && Clock.now < ends
            @counts.delete(key) # moves it to the end, as the newest
            make_room if @counts.size >= @most
            @counts[key] = [initial, Clock.now + ttl]
            initial
          end
        end

        # @return [Integer] number of counters
        def size = @counts.size

        # Deletes all counters, as between two tests.
        def clear
          @mutex.synchronize { @counts.clear }
          nil
        end

        private

        # Drops a tenth at a time: searching all of them for each new one would help an attacker.
        def make_room
          now = Clock.now
          @counts.delete_if { |_, (_, ends)| ends <= now }
          @counts.shift while @counts.size > @most * 9 / 10
        end
      end
    end
  end
end
