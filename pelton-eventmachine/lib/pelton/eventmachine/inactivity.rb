# frozen_string_literal: true

module EventMachine
  # Closes a transport with ETIMEDOUT when it has neither received nor sent a byte for too long.
  # @private
  module Inactivity
    def inactivity_timeout = @inactivity_timeout || 0.0

    # @param seconds [Numeric] 0: never
    def inactivity_timeout=(seconds)
      @inactivity_timeout = seconds.to_f
      EventMachine._in_loop do
        @inactivity_timer&.cancel
        watch_inactivity(@inactivity_timeout) if @inactivity_timeout > 0
      end
    end

    private

    def watch_inactivity(seconds)
      @inactivity_timer = ::Pelton.add_timer(seconds) do
        left = @inactivity_timeout - idle
        if @unbound || @closing == :now then nil
        elsif left <= 0.0005 then time_out
        else watch_inactivity(left)
        end
      end
    end

    def time_out
      @errno = Errno::ETIMEDOUT::Errno
      close(false)
    end
  end
end
