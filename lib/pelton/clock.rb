# frozen_string_literal: true

module Pelton
  # The monotonic clock. Deadlines and measurements use it, because changes of the system's time do not affect it.
  # @private
  module Clock
    # @return [Float] seconds since an arbitrary instant
    def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # @param deadline [Float] on this clock
    # @return [Float] seconds until the deadline; 0 when it has passed
    def self.left(deadline) = [deadline - now, 0.0].max
  end
end
