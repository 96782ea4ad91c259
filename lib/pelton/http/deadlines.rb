# frozen_string_literal: true

module Pelton
  module HTTP
    # The time limits of a request: one for each phase, and one for the whole.
    # @private
    class Deadlines
      # @param settings [Hash] seconds, see {Client::DEFAULTS}
      def initialize(settings)
        @settings = settings
        @end = Clock.now + settings[:timeout] if settings[:timeout]
      end

      # Seconds for a phase (:connect_timeout, ...) that begins now; nil: no limit.
      #
      # @raise [TimeoutError] the whole request's time is over
      def left(phase)
        own = @settings[phase]
        return own unless @end
        left = Clock.left(@end)
        raise TimeoutError, "the request did not finish within #{@settings[:timeout]} s" if left.zero?
        own ? [own, left].min : left
      end

      # The end of a phase that begins now, on the monotonic clock; nil: no limit.
      #
      # @raise [TimeoutError] the whole request's time is over
      def till(phase) = left(phase)&.+(Clock.now)

      # Whether the whole request's time lasts longer than so many seconds.
      def reach?(seconds) = @end.nil? || Clock.left(@end) > seconds

      # The error for a phase, or a whole request, that took too long.
      #
      # @return [TimeoutError]
      def over(phase, message = "no progress for #{@settings[phase]} s: the server is slow, or #{phase}: too short")
        left(phase)
        TimeoutError.new(message)
      rescue TimeoutError => error
        error
      end
    end
  end
end
