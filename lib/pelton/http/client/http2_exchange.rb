# frozen_string_literal: true

require_relative "response"

module Pelton
  module HTTP
    # A request by HTTP/2 and its response: one stream of a connection that others share. For the response, and for the
    # pool, it is what a {ClientConnection} is by HTTP/1.1.
    # @private
    class ClientHttp2Exchange
      include Opaque

      # Bytes of the request's body that may wait for the server's windows before the next piece is read.
      ROOM = 32_768

      # Bytes of a body that are passed on at a time.
      PIECE = 65_536

      # The most 1xx responses before the final one.
      INFORMATIONAL = 100

      # How often a request is sent again that the server has refused, without having looked at it.
      REPETITIONS = 10

      # The names of errors (RFC 9113, 7).
      CODES = %w[NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED
        FRAME_SIZE_ERROR REFUSED_STREAM CANCEL
        COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED].freeze
      REFUSED = CODES.index("REFUSED_STREAM")
      private_constant :CODES, :REFUSED

      def initialize(connection)
        @connection = connection
        @received = connection.received
      end

      # Whether the server has not seen the request that just failed, or may not have, and it can be sent again.
      #
      # @param attempt [Integer] how often it was sent again already
      def repeats?(request, attempt)
        return attempt < REPETITIONS && (!request.body || request.body.repeatable?) if @refused
        attempt.zero? && stale? && request.repeatable?
      end

      # Whether nothing more comes, and nothing can be sent.
      def closed? = !@stream || @stream.closed?

      # Sends a request and receives the head of its response.
      #
      # @return [ClientResponse]
      def exchange(request, deadlines, settings)
        @request = request
        body = request.body
        @stream = @connection.begin(self, request.to_head, request.url.scheme, !body)
        send_body(request, deadlines) if body
        head = receive_head(deadlines)
        head[6] = false if request.head?
        @connection.answered += 1
        response = ClientResponse.new(request, head, self, deadlines, settings)
        finish unless response.body?
        answered = response
      rescue Error => error
        raise request.named(error)
      ensure # Ruby's Timeout leaves by throw
        abort unless answered
      end

      # @return [String, nil] the next piece of the body, as it was sent; nil at its end
      # @raise [ConnectionError] the stream ends before the body does
      def next_piece(deadlines)
        piece = @stream.piece || later_piece(deadlines)
        @connection.flush if piece # opens the window
        piece
      rescue Error => error
        raise @request.named(error)
      ensure
        abort unless piece
      end

      # Ends the exchange: the stream is cancelled, unless it has ended. It may be called more than once.
      def abort
        return if @finished
        @finished = true
        @stream&.release
        @connection.leave_exchange(self)
      end
      alias_method :finish, :abort

      # @return [Integer, nil] the number of the request in progress
      def busy = (1 unless @finished)

      private

      # ---- the request's body

      def send_body(request, deadlines)
        return unless !request.asks? || wanted?(deadlines)
        answered = false
        request.body.each do |piece|
          break if (answered = early?) # the rest need not be sent
          send_piece(piece, deadlines)
        end
        return if answered
        @stream.finish
        await_room(deadlines, 0)
      end

      def send_piece(piece, deadlines)
        0.step(piece.bytesize - 1, PIECE) do |start|
          @stream.write((piece.bytesize > PIECE) ? piece.byteslice(start, PIECE) : piece)
          await_room(deadlines, ROOM)
        end
      end

      # Asks for the server's consent to the body. False: the server has answered instead. Some servers ignore the
      # question, and then the body is sent after a while.
      def wanted?(deadlines)
        @connection.wait_until(self, deadlines.till(:expect_timeout)) { @stream.continued? || early? }
        !early?
      rescue TimeoutError
        deadlines.left(:expect_timeout) # raises when the whole request's time is over
        true
      end

      def early? = @stream.headed? || @stream.closed?

      # Waits until so few bytes are left to be sent. A large body that makes progress is not late.
      def await_room(deadlines, room)
        @connection.flush
        return if @stream.unsent <= room
        @stream.wants_room = true
        begin
          unsent = @stream.unsent
          @connection.wait_until(self, deadlines.till(:write_timeout)) { early? || @stream.unsent <= room }
        rescue TimeoutError
          retry if @stream.unsent < unsent
          raise deadlines.over(:write_timeout)
        end
      end

      # ---- the response

      def receive_head(deadlines)
        wait(deadlines, :response_timeout) { early? }
        @stream.head || raise(failure)
      end

      def later_piece(deadlines)
        piece = wait(deadlines, :read_timeout) { @stream.piece || @stream.ended? || @stream.closed? }
        return piece if piece.is_a?(String)
        @stream.ended? ? nil : raise(failure)
      end

      def wait(deadlines, phase, &)
        value = yield and return value
        @connection.wait_until(self, deadlines.till(phase), &)
      rescue TimeoutError
        raise deadlines.over(phase)
      end

      # ---- failures

      # The connection was used before, has ended, and nothing came since the request was sent.
      def stale?
        @connection.failure && @connection.answered.positive? && @connection.received == @received
      end

      # @return [StandardError] why the stream has ended before the response
      def failure
        code, by_server, interim = @stream.error
        if interim > INFORMATIONAL
          return ProtocolError.new("the server sent more than #{INFORMATIONAL} informational responses and no final " \
            "one")
        end
        @refused = code == REFUSED
        return ConnectionError.new("the server has not processed the request (REFUSED_STREAM)") if @refused
        return ConnectionError.new("the server reset the stream (#{CODES.fetch(code, code)})") if by_server
        return broken(@connection.failure) if @connection.failure && code.zero?
        ProtocolError.new("the server's response is malformed (#{CODES.fetch(code, code)})")
      end

      def broken(error)
        return error unless error.is_a?(EOFError)
        @stream.headed? ? ConnectionError.new("the connection ended before the response did") : error
      end
    end
  end
end
