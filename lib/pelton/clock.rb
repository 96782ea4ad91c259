# frozen_string_literal: true

module Pelton
  # The clock that nobody sets: what waits or measures goes by it, whatever happens to the time of day.
  # @private
  module Clock
    # @return [Float] seconds since an instant of its own
    def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # @param deadline [Float] on this clock
    # @return [Float] seconds until then; 0 when it is over
    def self.left(deadline) = [deadline - now, 0.0].max
  end
end
