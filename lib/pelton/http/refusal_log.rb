# frozen_string_literal: true

module Pelton
  module HTTP
    # Logs clients that are no HTTP clients, or break off TLS's handshake, at the level info. A scan must not flood the
    # log, so only some of them are logged each minute. The counters in {Server#stats} have all of them.
    # @private
    class RefusalLog
      MOST = 10       # messages in a period
      PERIOD = 60     # seconds
      FULL = "HTTP: more clients are refused than are logged here: see the counters refused and failed_handshakes"

      def initialize(clock: Clock)
        @clock = clock
        @began = -Float::INFINITY
        @count = 0
      end

      # @yieldreturn [String] the message, if it is to be logged
      def add
        now = @clock.now
        @began, @count = now, 0 if now - @began >= PERIOD
        @count += 1
        log(yield) if @count <= MOST
        log(FULL) if @count == MOST + 1
      end

      private

      # Not at once: a logger may wait, and this is called in the middle of a connection's work.
      def log(message) = Pelton.next_tick { Pelton.logger.info(message) }
    end
  end
end
