# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # Responses that are made while they are sent: streams, server-sent events, deferred responses; and WebSockets. See {Stream} for when
      # they end.
      module Streaming
        private

        # Answers with a body that the block writes. It runs when the headers have been sent, and may wait.
        #
        # @param type [String] the content-type
        # @param lifetime [Numeric, nil] seconds; otherwise `settings.stream_lifetime`
        # @yieldparam out [Stream]
        # @raise [TooManyStreams] as many are open as `settings.max_streams` allows
        def stream(type: "text/plain; charset=utf-8", status: nil, lifetime: settings.stream_lifetime, &block)
          answer_stream(status, {"content-type" => type}, lifetime: lifetime, &block)
        end

        # Answers with server-sent events.
        #
        # @param lifetime [Numeric, nil] seconds; then the client connects again
        # @yieldparam events [HTTP::EventStream]
        # @raise (see #stream)
        def event_stream(lifetime: settings.stream_lifetime, &block)
          events = HTTP::EventStream.new(&block)
          answer_stream(nil, events.headers, lifetime: lifetime, endless: true) { |out| events.call(out) }
        end

        # Answers with a body that is sent part by part, perhaps by callbacks, until the block's argument is told to `succeed`:
        #
        #     defer_response(200, {"Content-Type" => "text/plain"}) do |response|
        #       User.all(limit: 5) do |users|
        #         users.each { |user| response.send_data("#{user.username}\n") }
        #         response.succeed
        #       end
        #     end
        #
        # @yieldparam response [Stream]
        # @raise (see #stream)
        def defer_response(status, headers = {}, lifetime: settings.stream_lifetime, &block) = answer_stream(status, headers, lifetime: lifetime, deferred: true, &block)

        # Makes a WebSocket of the request. The block gets the socket in a task of its own.
        #
        # @param options [Hash] see {HTTP::WebSocket.accept}: `origins:`, `protocols:`, `max_message:`
        # @yieldparam socket [HTTP::WebSocket]
        # @raise [TooManyStreams]
        # @raise [Error] another server than Pelton's runs the application
        def websocket(**options, &block)
          Stream.admit(settings.max_streams)
          status, headers, body = HTTP::WebSocket.accept(@env, **options) { |socket| Stream.count { block.call(socket) } }
          response.headers.update(headers)
          answer(body, status: status)
        end

        def answer_stream(status, headers, kind: Stream, **options, &block)
          Stream.admit(settings.max_streams)
          answer(kind.new(@env, **options, &block), status: status)
          response.headers.update(headers)
          nil
        end
      end
    end
  end
end
