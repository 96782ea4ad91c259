# frozen_string_literal: true

require_relative "event_parser"

module Pelton
  module HTTP
    # Follows the events of a URL as a browser's EventSource does: it comes back when the connection ends, and says
    # which event was the last one.
    # @private
    class EventSource
      # Seconds until it comes back, unless the server says otherwise; at most, after many failures in a row; and what a
      # server may ask for.
      RETRY = 3.0
      LONGEST_RETRY = 60.0
      ASKED = (0.1..3600.0)
      # Statuses that are over soon.
      TEMPORARY = [429, 500, 502, 503, 504].freeze
      private_constant :RETRY, :LONGEST_RETRY, :ASKED, :TEMPORARY

      def initialize(client, url, last_event_id:, max_event:, headers:, **options)
        @client, @url, @max_event, @headers, @options = client, url, max_event, headers, options
        @last_id = last_event_id.to_s
        @retry = RETRY
        @failures = 0
      end

      # @asynchronous
      def each(&block)
        loop do
          return if connect(&block) == 204
          sleep pause
        end
      end

      private

      # @return [Integer, nil] the status; nil: there was no response
      def connect(&block)
        response = @client.get(@url, headers: headers, stream: true, **@options)
        return response.status if response.status == 204
        if TEMPORARY.include?(response.status)
          @failures += 1
          return response.status
        end
        follow(response, &block)
      rescue ConnectionError, TimeoutError => error
        raise unless error.retriable?
        @failures += 1
        nil
      ensure
        response&.close
      end

      def follow(response)
        response._each_event(parser = EventParser.new(limit: @max_event, last_id: @last_id)) do |event|
          @failures = 0
          @last_id = event.id
          yield event
        end
        response.status
      ensure
        @last_id = parser.last_id if parser
        @retry = parser.retry_after.clamp(ASKED) if parser&.retry_after
      end

      def headers
        sent = {"accept" => "text/event-stream", "cache-control" => "no-cache"}.merge(@headers)
        @last_id.empty? ? sent : sent.merge("last-event-id" => @last_id)
      end

      # Longer after each failure, and not the same for all clients of a server that was away.
      def pause
        doubled = @retry * 2**(@failures - 1).clamp(0, 10)
        longest = [LONGEST_RETRY, @retry].max
        [doubled, longest].min * rand(0.8..1.2)
      end
    end
  end
end
