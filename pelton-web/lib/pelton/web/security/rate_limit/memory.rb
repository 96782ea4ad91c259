# frozen_string_literal: true

module Pelton
  module Web
    class RateLimit
      # Counters in memory, which the workers of one server share.
      class Memory
        # @param counters [SharedCounters]
        def initialize(counters = SharedCounters.default)
          @counters = counters
        end

        # Like {Memcached::Client#incr}: the time starts with the first call.
        #
        # @param ttl [Numeric] seconds
        # @return [Integer] the count
        def incr(key, amount = 1, initial: amount, ttl: nil, timeout: nil) = @counters.add(key, amount, ttl: ttl)

        # @return [Integer] number of counters
        def size = @counters.size

        # Deletes all counters, as between two tests.
        def clear = @counters.clear
      end
    end
  end
end
