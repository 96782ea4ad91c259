# frozen_string_literal: true

module Pelton
  module HTTP
    # Server-sent events: a body for a Rack application. The block sends events as long as it likes; when it ends, so does the
    # response. A client that reads slowly holds up the block, one that is gone ends it by {ClosedError}.
    #
    # @example
    #   run ->(env) do
    #     events = Pelton::HTTP::EventStream.new do |stream|
    #       loop { stream.emit(Time.now.to_s, event: "time") && sleep(1) }
    #     end
    #     [200, events.headers, events]
    #   end
    class EventStream
      # What the response says of itself. Proxies are told not to hold it back.
      HEADERS = {"content-type" => "text/event-stream", "cache-control" => "no-cache", "x-accel-buffering" => "no"}.freeze

      # @yieldparam stream [EventStream]
      def initialize(&block)
        raise ArgumentError, "an event stream needs a block" unless block
        @block = block
      end

      # @return [Hash] a copy of {HEADERS}
      def headers = HEADERS.dup

      # Sends an event.
      #
      # @param data [String, nil] of any number of lines
      # @param event [String, nil] its name; nil: "message"
      # @param id [String, nil] what a client that reconnects sends as Last-Event-ID
      # @param retry_after [Numeric, nil] seconds until it may reconnect
      # @return [self]
      # @raise [ClosedError] the client is gone
      # @raise [ArgumentError] a name or id with a line end in it
      # @asynchronous
      def emit(data = nil, event: nil, id: nil, retry_after: nil)
        lines = {"event" => event, "id" => id, "retry" => retry_after && (retry_after * 1000).round}.compact.map { |name, value| field(name, value) }
        data&.to_s&.split(/\r\n|\r|\n/, -1)&.each { |line| lines << "data: #{line}\n" }
        lines << "data: \n" if data&.to_s&.empty?
        put("#{lines.join}\n")
      end

      # Sends what clients pass over: it keeps a connection open, and finds out whether the client is still there.
      #
      # @return [self]
      # @asynchronous
      def comment(text = "") = put(": #{text.to_s.tr("\r\n", "  ")}\n\n")

      # Rack's: the server gives it what it writes to.
      # @private
      def call(stream)
        @stream = stream
        @block.call(self)
        stream.close
      rescue Exception => error # standard:disable Lint/RescueException
        stream.close(error)
        raise unless error.is_a?(ClosedError)
      end

      private

      def field(name, value)
        raise ArgumentError, "the #{name} of an event has a line end in it" if value.to_s.match?(/[\r\n\0]/)
        "#{name}: #{value}\n"
      end

      def put(text)
        raise Error, "an event stream sends while the server writes it, inside its block" unless @stream
        @stream.write(text)
        self
      end
    end
  end
end
