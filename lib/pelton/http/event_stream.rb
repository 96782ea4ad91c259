# frozen_string_literal: true

require_relative "../pubsub"

module Pelton
  module HTTP
    # Server-sent events: a body for a Rack application. The block sends events for as long as it likes; its end is the
    # response's end. The block waits for a client that reads slowly, and gets {ClosedError} when the client has left.
    #
    # @example
    #   run ->(env) do
    #     events = Pelton::HTTP::EventStream.new do |stream|
    #       loop { stream.emit(Time.now.to_s, event: "time") && sleep(1) }
    #     end
    #     [200, events.headers, events]
    #   end
    class EventStream
      # The headers of the response. They ask proxies not to buffer it.
      HEADERS = {"content-type" => "text/event-stream", "cache-control" => "no-cache",
                 "x-accel-buffering" => "no"}.freeze

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
      # @param id [String, nil] a client that reconnects sends it as Last-Event-ID
      # @param retry_after [Numeric, nil] seconds until a client that loses the connection may reconnect
      # @return [self]
      # @raise [ClosedError] the client has left
      # @raise [ArgumentError] a name or id contains a line end
      # @asynchronous
      def emit(data = nil, event: nil, id: nil, retry_after: nil)
        lines = {"event" => event, "id" => id, "retry" => retry_after &&
          (retry_after * 1000).round}.compact.map { |name, value| field(name, value) }
        data&.to_s&.split(/\r\n|\r|\n/, -1)&.each { |line| lines << "data: #{line}\n" }
        lines << "data: \n" if data&.to_s&.empty?
        put("#{lines.join}\n")
      end

      # Sends a comment, which clients ignore. It keeps a connection open, and finds out whether the client is still
      # there.
      #
      # @return [self]
      # @raise [ClosedError] the client has left
      # @asynchronous
      def comment(text = "") = put(": #{text.to_s.tr("\r\n", "  ")}\n\n")

      # Sends what is published on a topic, from now on or from where the client was, until the client leaves. A topic
      # that keeps its messages ({PubSub#keep}) gives each its position as id, which a browser that comes back sends as
      # `Last-Event-ID`.
      #
      # A {ResumableStream} is followed until its text is finished or cancelled: its pieces are messages, its other
      # events have the names of their types, and the class of an error as data. With a block, all are messages.
      #
      # @param topic [String, ResumableStream]
      # @param after [String, nil] `env["HTTP_LAST_EVENT_ID"]`: the messages since come first
      # @param event [String, nil] the events' name
      # @param gap [String, nil] the name of the event that tells the client that messages are missing: it should load
      #   the current state
      # @param every [Numeric] seconds of silence after which a comment is sent, which finds out whether the client is
      #   still there
      # @param pubsub [PubSub]
      # @yieldparam event [ResumableStream::Event]
      # @yieldreturn [String] the message
      # @return [self]
      # @raise [ClosedError] the client has left
      # @raise [OverloadError] the client reads too slowly: the response ends, and a browser comes back
      # @asynchronous
      def follow(topic, after: nil, event: nil, gap: "gap", every: 15, pubsub: PubSub.default, &message)
        return follow_text(topic, after, event, every, message) unless topic.is_a?(String)
        subscription = pubsub.subscribe(topic, after: after)
        told = tell_gap(subscription, gap, false)
        emit(id: subscription.position) if subscription.position # of a client that leaves before the first message, too
        until subscription.closed?
          begin
            message = subscription.receive(timeout: every)
            told = tell_gap(subscription, gap, told)
            emit(message, event: event, id: subscription.position) if message
          rescue TimeoutError
            told = tell_gap(subscription, gap, told)
            comment
          end
        end
        self
      ensure
        subscription&.close
      end

      # Rack's streaming body: the server calls it with the stream.
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

      def follow_text(stream, after, name, every, message)
        stream.follow(after: after, every: every) do |event|
          next comment unless event
          if message
            emit(message.call(event), event: name, id: event.position)
          elsif event.type == :append
            emit(event.text, event: name, id: event.position)
          else
            emit(event.error.to_s, event: event.type, id: event.position)
          end
        end
        self
      end

      # @return [Boolean] whether the client knows that messages are missing, if some are
      def tell_gap(subscription, event, told)
        emit("", event: event) if event && subscription.gap? && !told
        subscription.gap?
      end

      def field(name, value)
        raise ArgumentError, "the #{name} of an event contains a line end" if value.to_s.match?(/[\r\n\0]/)
        "#{name}: #{value}\n"
      end

      def put(text)
        unless @stream
          raise Error, "an event stream can only send inside its block, while the server writes the response"
        end
        @stream.write(text)
        self
      end
    end
  end
end
