# frozen_string_literal: true

module Pelton
  module HTTP
    # The times that a request's phases may take, and all of them together.
    # @private
    class Deadlines
      # @param settings [Hash] seconds, see {Client::DEFAULTS}
      def initialize(settings)
        @settings = settings
        @end = Clock.now + settings[:timeout] if settings[:timeout]
      end

      # Seconds that a phase (:connect_timeout, ...) that begins now may take; nil: as long as it takes.
      #
      # @raise [TimeoutError] the time of all is over
      def left(phase)
        own = @settings[phase]
        return own unless @end
        left = Clock.left(@end)
        raise TimeoutError, "the request was not done within #{@settings[:timeout]} s" if left.zero?
        own ? [own, left].min : left
      end

      # When a phase that begins now is over, on the monotonic clock; nil: never.
      #
      # @raise [TimeoutError] the time of all is over
      def till(phase) = left(phase)&.+(Clock.now)

      # What to raise when a phase took longer, or all of it.
      #
      # @return [TimeoutError]
      def over(phase, what = "nothing went on for #{@settings[phase]} s: the server is slow, or #{phase}: too short")
        left(phase)
        TimeoutError.new(what)
      rescue TimeoutError => error
        error
      end
    end
  end
end
