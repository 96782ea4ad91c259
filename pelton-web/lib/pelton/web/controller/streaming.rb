# frozen_string_literal: true

module Pelton
  module Web
    class Controller
      # Streams, server-sent events, deferred responses and WebSockets. {Stream} describes when they end.
      module Streaming
        private

        # Responds with a body that the block writes. The block runs after the headers have been sent, and may wait.
        #
        # @param type [String] the content-type
        # @param lifetime [Numeric, nil] seconds; by default `settings.stream_lifetime`
        # @yieldparam out [Stream]
        # @raise [TooManyStreams] if `settings.max_streams` are open
        def stream(type: "text/plain; charset=utf-8", status: nil, lifetime: settings.stream_lifetime, &block)
          answer_stream(status, {"content-type" => type}, lifetime: lifetime, &block)
        end

        # Responds with server-sent events.
        #
        # @param lifetime [Numeric, nil] seconds, after which the client reconnects
        # @yieldparam events [HTTP::EventStream]
        # @raise (see #stream)
        def event_stream(lifetime: settings.stream_lifetime, &block)
          events = HTTP::EventStream.new(&block)
          answer_stream(nil, events.headers, lifetime: lifetime, endless: true) { |out| events.call(out) }
        end

        # Responds with a text that a job writes ({Pelton::ResumableStream}), by server-sent events: from the beginning,
        # from the parameter `after`, or where the browser was. Who may read it is the action's business.
        #
        #     def stream
        #       follow_stream(Message.with_pk!(params.integer(:id)), :content)
        #
        # For `<turbo-stream-source>`, which {Helpers::ResumableStreams} writes, the events are elements of Turbo.
        # Others get them by their names ({HTTP::EventStream#follow}) with `turbo: false`.
        #
        # @param record [Object] whose `content_stream` is the stream, for a column `:content`
        # @param column [Symbol]
        # @param turbo [Boolean]
        # @param every [Numeric] seconds of silence, after which a comment finds out whether the client is still there
        # @param lifetime [Numeric, nil] seconds, after which the client reconnects
        # @yieldparam event [Pelton::ResumableStream::Event] whose state has changed
        # @yieldreturn [String, nil] elements of Turbo
        # @raise (see #stream)
        def follow_stream(record, column, turbo: true, every: 15, lifetime: settings.stream_lifetime, &changed)
          stream = record.public_send(:"#{column}_stream")
          position = @env["HTTP_LAST_EVENT_ID"]
          if turbo
            elements =
              Pelton::ResumableStream::TurboElements.new(Helpers::ResumableStreams._target(record, column), &changed)
          else
            position ||= params[:after]
          end
          event_stream(lifetime: lifetime) do |events|
            events.follow(stream, after: position, every: every, &elements&.method(:of))
          end
        end

        # Responds with a body that is sent in parts, also by callbacks, until `succeed` is called on the block's
        # argument:
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
        def defer_response(status, headers = {}, lifetime: settings.stream_lifetime, &block)
          answer_stream(status, headers, lifetime: lifetime, deferred: true, &block)
        end

        def answer_stream(status, headers, kind: Stream, **options, &block)
          Stream.admit(settings.max_streams)
          answer(kind.new(@env, **options, &block), status: status)
          response.headers.update(headers)
          nil
        end

        # Upgrades the request to a WebSocket, which the block gets in a separate task.
        #
        # @param options [Hash] see {HTTP::WebSocket.accept}: `origins:`, `protocols:`, `max_message:`
        # @yieldparam socket [HTTP::WebSocket]
        # @raise [TooManyStreams] if `settings.max_streams` are open
        # @raise [Error] if the server is not Pelton's
        def websocket(**options, &block)
          Stream.admit(settings.max_streams)
          status, headers, body = HTTP::WebSocket.accept(@env, **options) do |socket|
            Stream.count { block.call(socket) }
          end
          response.headers.update(headers)
          answer(body, status: status)
        end
      end
    end
  end
end
