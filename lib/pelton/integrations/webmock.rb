# frozen_string_literal: true

module Pelton
  module Integrations
    # WebMock answers the client's requests by its stubs, and refuses those that are not allowed. VCR stands on WebMock.
    #
    # A redirect's request, and a repetition after a busy server, is a request of its own; one that is sent again on a
    # new connection is not.
    class WebMock < ::WebMock::HttpLibAdapter
      # The body of a stub, as far as a response knows its connection.
      class StubbedBody
        # Bytes of a piece, unless the stub has pieces (an Array).
        PIECE = 16_384

        # @return [Integer] bytes
        attr_reader :length

        # @param body [String, Array<String>]
        def initialize(body)
          @pieces = body.is_a?(Array) ? body.map { |piece| piece.to_s.b } : cut(body.b)
          @length = @pieces.sum(&:bytesize)
        end

        def next_piece(_deadlines) = @pieces.shift

        def abort = nil

        def busy = nil

        def hand_over = raise(Error, "a stub of WebMock has no connection that could be handed over")

        private

        def cut(body)
          0.step(body.bytesize - 1, PIECE).map { |start| body.byteslice(start, PIECE) }
        end
      end

      # Reads a body from its connection, and calls the block with what was read: at the end, or when the rest is given
      # up. So a stream is passed on piece by piece all the same.
      class RecordedBody
        def initialize(connection, &done)
          @connection, @done = connection, done
          @body = "".b
        end

        def next_piece(deadlines)
          piece = @connection.next_piece(deadlines)
          piece ? @body << piece : finish
          piece
        end

        def abort
          @connection.abort
          finish
        end

        def busy = @connection.busy

        private

        def finish
          done, @done = @done, nil
          done&.call(@body)
        end
      end

      # The client's method that makes one request.
      module Exchange
        private

        def exchange(request, deadlines, settings)
          return super unless WebMock.enabled?
          request = request.buffered
          WebMock.answer(request, deadlines, settings) { super }
        end
      end

      adapter_for :pelton

      class << self
        def enable!
          HTTP::Client.prepend(Exchange)
          @enabled = true
        end

        def disable!
          @enabled = false
        end

        def enabled? = @enabled

        # @yieldreturn [HTTP::ClientResponse] the server's, if no stub has one
        # @return [HTTP::ClientResponse]
        # @asynchronous
        def answer(request, deadlines, settings)
          signature = signature(request)
          ::WebMock::RequestRegistry.instance.requested_signatures.put(signature)
          if (stub = ::WebMock::StubRegistry.instance.response_for_request(signature))
            report(signature, stub, real_request: false)
            stubbed(stub, request, deadlines, settings)
          elsif ::WebMock.net_connect_allowed?(signature.uri)
            yield.tap { |response| record(response, signature) }
          else
            raise ::WebMock::NetConnectNotAllowedError, signature
          end
        end

        private

        # Headers that follow from the body and the URL are left out, as they are for Net::HTTP.
        def signature(request)
          url = request.url.dup.tap { |copy| copy.fragment = nil }
          ::WebMock::RequestSignature.new(request.method.downcase.to_sym, url.to_s, body: content(request.body),
            headers: request.headers.compact)
        end

        # @param body [HTTP::ClientBody, nil] it can be read again
        def content(body)
          return body&.to_s if body.nil? || body.string?
          text(body.enum_for(:each).to_a.join)
        end

        # What is read is binary, and differs from the text of a stub unless both are ASCII.
        def text(bytes)
          text = String.new(bytes, encoding: Encoding::UTF_8)
          text.valid_encoding? ? text : bytes
        end

        def stubbed(stub, request, deadlines, settings)
          raise request.named(TimeoutError.new("the time is over, as a stub of WebMock says")) if stub.should_timeout
          stub.raise_error_if_any
          status, reason = stub.status
          status = status.to_i
          body = StubbedBody.new(stub.body)
          headers = stub.headers.to_h.transform_keys(&:downcase)
          head = [status, reason.to_s, nil, headers, nil, body.length, body?(request, status)]
          HTTP::ClientResponse.new(request, head, body, deadlines, settings)
        end

        def body?(request, status) = !request.head? && status >= 200 && ![204, 304].include?(status)

        # The body is the one that was sent, still compressed, as the headers say.
        def record(response, signature)
          return unless ::WebMock::CallbackRegistry.any_callbacks?
          copy = ::WebMock::Response.new(status: [response.status, response.reason], headers: response.headers)
          return report(signature, copy, real_request: true) unless response.body?
          response.read_through(&recorder(copy, signature))
        end

        # It does not know the response: the pool takes back the connections of those that are garbage.
        def recorder(copy, signature)
          lambda do |connection|
            RecordedBody.new(connection) do |bytes|
              copy.body = text(bytes)
              report(signature, copy, real_request: true)
            end
          end
        end

        def report(signature, response, **options)
          ::WebMock::CallbackRegistry.invoke_callbacks({lib: :pelton, **options}, signature, response)
        end
      end

      # As the other adapters of WebMock are by now, which may be disabled.
      enable! unless ::Net::HTTP.equal?(::WebMock::HttpLibAdapters::NetHttpAdapter::OriginalNetHTTP)
    end
  end
end
