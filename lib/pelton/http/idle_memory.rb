# frozen_string_literal: true

module Pelton
  module HTTP
    # Gives memory back after a peak. Ruby collects garbage when the program allocates, and malloc keeps what was freed:
    # so a server that is idle after a burst would keep the burst's memory
    # (docs/internals/adr/021-memory-after-a-peak.md).
    # @private
    class IdleMemory
      PERIOD = 1  # seconds of an idle loop
      IDLE = 0.9  # of the period
      PAUSE = 60  # seconds from one release to the next

      # @param busy [Proc] the number of connections with a request or unsent output
      # @param trim [Proc] gives free memory back to the system
      # @param period [Numeric] seconds
      def initialize(busy, trim, period: PERIOD)
        @busy = busy
        @trim = trim
        @period = period
      end

      # Waits until the peak is over and the loop is idle, and releases memory.
      # @asynchronous
      def release_after_peak
        highest = 0
        loop do
          highest = [highest, @busy.call].max
          idle = Reactor.current.stats[:idle]
          sleep @period
          break if @busy.call * 2 < highest && Reactor.current.stats[:idle] - idle > @period * IDLE
        end
        GC.start
        Pelton.offload(&@trim)
      end
    end
  end
end
