# frozen_string_literal: true

require "time"

module Pelton
  module HTTP
    # Sends a request again that may be sent twice, when its connection fails or the server is busy.
    # @private
    class ClientRetries
      # Statuses of a server that wants the request later.
      BUSY = [429, 503].freeze
      # Seconds before the first repetition; twice as many before each further one, up to LONGEST.
      FIRST = 0.5
      LONGEST = 30
      # Seconds that a server may ask for; the response with more is the result.
      MOST_ASKED = 60
      private_constant :BUSY, :FIRST, :LONGEST, :MOST_ASKED

      # @param request [ClientRequest]
      # @param deadlines [Deadlines]
      # @param count [Integer] repetitions
      def initialize(request, deadlines, count)
        @request, @deadlines = request, deadlines
        @left = count
        @tried = 0
      end

      # @yieldreturn [ClientResponse]
      # @return [ClientResponse]
      # @raise the last error
      # @asynchronous
      def call(&send)
        until (response = attempt(&send))
          sleep @seconds
        end
        response
      end

      private

      # @return [ClientResponse, nil] nil: the request is to be sent again, after `@seconds`
      def attempt
        response = yield
        return response unless BUSY.include?(response.status) && (@seconds = pause(asked(response)))
        response.discard
      rescue ConnectionError => error
        raise unless error.retriable? && (@seconds = pause)
      end

      # @param seconds [Numeric, nil] that the server has asked for
      # @return [Numeric, nil] seconds until the next time; nil: there is none
      def pause(seconds = nil)
        return if @left.zero? || !@request.retriable? || seconds.to_f > MOST_ASKED
        seconds ||= [FIRST * 2**@tried, LONGEST].min * rand(0.5..1.0)
        return unless @deadlines.reach?(seconds)
        @left -= 1
        @tried += 1
        seconds
      end

      # @return [Numeric, nil]
      def asked(response)
        value = response["retry-after"].to_s
        return Integer(value, 10) if value.match?(/\A\d{1,9}\z/)
        [Time.httpdate(value) - Time.now, 0].max
      rescue ArgumentError
        nil
      end
    end
  end
end
