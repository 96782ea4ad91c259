# frozen_string_literal: true

require_relative "response"

module Pelton
  module HTTP
    # A connection of the client: one request at a time, and its response.
    # @private
    class ClientConnection
      include Opaque

      # The most 1xx responses before the final one.
      INFORMATIONAL = 100

      # Seconds between two checks of a send that makes no progress: the server may have answered already.
      CHECK_INTERVAL = 1

      # @return [Stream]
      attr_reader :stream

      # @return [Array] the origin, see {ClientRequest#origin}
      attr_reader :origin

      # @return [Float] the end of its idle time, on the monotonic clock
      attr_reader :expires

      # @param stream [Stream]
      # @param proxied [Hash, nil] the headers for the proxy that gets the requests; nil: there is none
      # @yieldparam connection [ClientConnection] at the end of each response: see {#reusable?}
      def initialize(stream, origin, proxied: nil, &done)
        @stream = stream
        @origin = origin
        @proxied = proxied
        @done = done
        @parser = Parser.new(:response)
        @used = 0
        @answered = false
      end

      def http2? = false

      # Whether to send the request again that just failed: the server may not have seen it, since the connection was
      # idle before, and no byte came back.
      #
      # @param attempt [Integer] how often it was sent again already
      def repeats?(request, attempt) = attempt.zero? && @used > 1 && !@answered && request.repeatable?

      # Whether another request may follow.
      def reusable? = @keep_alive && !@parser.within? && @stream.quiet?

      # Sends a request and receives the head of its response.
      #
      # @return [ClientResponse]
      def exchange(request, deadlines, settings)
        number = @used += 1
        @request = request
        @answered = @keep_alive = false
        @parser.no_body = request.head?
        @busy = true
        @early = nil
        @informational = @given = @sent = 0
        failure = send(request, deadlines)
        response = receive(request, deadlines, settings, failure)
        @keep_alive &&= !failure && !@early
        # the connection changes its protocol: see hand_over
        end_of_message(deadlines) unless response.body? || response.status == 101
        answered = response
      rescue Error => error
        raise request.named(error)
      ensure # Ruby's Timeout leaves by throw
        abort if !answered && busy == number
      end

      # @return [String, nil] the next piece of the body, as it was sent; nil at its end
      # @raise [ConnectionError] the connection ends before the body does
      def next_piece(deadlines)
        piece = event(deadlines, :read_timeout)
        return piece if piece.is_a?(String)
        finish
        nil
      rescue Error => error
        raise @request.named(error)
      ensure
        abort unless piece
      end

      # Closes the connection. It may be called more than once.
      def abort
        @keep_alive = false
        @stream.abort
        finish
      end

      # @return [Integer, nil] the number of the request in progress
      def busy = (@used if @busy)

      # Begins an idle time of so many seconds, or fewer if the server announced that. A second is subtracted from the
      # server's time: a request that crosses the server's close is lost, and a POST is not sent again.
      def begin_idle(seconds)
        @expires = Clock.now + [seconds, *@server_keeps&.-(1)].min
        self
      end

      # Closes the connection after its last response. Bytes that a server did not receive because it answered early are
      # dropped.
      def leave = @stream.pending.zero? ? @stream.close : @stream.abort

      # Gives the stream to another protocol, with the bytes that came after the head.
      #
      # @return [Array(Stream, String)]
      def hand_over
        @handed_over = true
        @keep_alive = false
        finish
        [@stream, @parser.rest]
      end

      def handed_over? = !!@handed_over

      private

      # @return [ConnectionError, nil] the error that interrupted sending; the server may have answered all the same
      def send(request, deadlines)
        request = request.unasked if @ignores_expect && request.asks?
        head = request.to_head(absolute: !!@proxied, extra: @proxied || {})
        body = request.body
        if body.nil? || (body.string? && !request.asks?)
          write(deadlines, head, *body&.to_s)
        else
          write(deadlines, head)
          if !request.asks? || wanted?(deadlines)
            body.each_framed { |*pieces| (early? || write(deadlines, *pieces)) && break }
          end
        end
        nil
      rescue ConnectionError => error
        error
      end

      # Asks for the server's consent to the body. False: the server has answered instead. Some servers ignore the
      # question, and then the body is sent after a while.
      def wanted?(deadlines)
        head = next_head(deadlines, :expect_timeout)
        head = next_head(deadlines, :expect_timeout) while informational?(head) && head[0] != 100
        @early = head unless head[0] == 100
        !@early
      rescue TimeoutError
        deadlines.left(:expect_timeout) # raises when the whole request's time is over
        @ignores_expect = true # do not ask again on this connection
      end

      # @return [Boolean] whether the server has answered meanwhile, so the rest need not be sent
      def write(deadlines, *strings)
        @given += strings.sum(&:bytesize)
        till = deadlines.till(:write_timeout)
        begin
          @stream.write(*strings, timeout: until_check(till))
          false
        rescue TimeoutError
          return true if early?
          till = deadlines.till(:write_timeout) if progress?
          raise deadlines.over(:write_timeout) if till && till <= Clock.now
          strings = [""] # the strings are queued: this waits until they have left
          retry
        end
      end

      # Whether bytes of the request have left since the last call. A large request that makes progress is not late.
      def progress?
        sent, @sent = @sent, @given - @stream.pending
        @sent > sent
      end

      # Whether the server has answered before the whole body was sent.
      def early?
        until @early || @stream.quiet?
          @parser.feed(@stream.readpartial(65_536, timeout: 0))
          @answered = true
          while !@early && (head = @parser.next)
            @early = head unless informational?(head)
            skip_informational if informational?(head)
          end
        end
        !!@early
      rescue TimeoutError
        false
      end

      # Seconds until the next check.
      def until_check(till) = till ? [Clock.left(till), CHECK_INTERVAL].min : CHECK_INTERVAL

      def receive(request, deadlines, settings, failure)
        head = @early || next_head(deadlines, :response_timeout)
        head = next_head(deadlines, :response_timeout) while informational?(head)
        if head[0] == 101 && !request.upgrades?
          raise ProtocolError, "the server switched protocols (101), which the request did not ask for"
        end
        @answered = true
        @keep_alive = head[4]
        @server_keeps = head[3]["keep-alive"].to_s[/\btimeout=(\d{1,9})/i, 1]&.to_i
        ClientResponse.new(request, head, self, deadlines, settings)
      rescue EOFError, ConnectionError, TimeoutError => error
        raise failure || error
      end

      # 101 is final: another protocol follows.
      def informational?(head) = head[0] < 200 && head[0] != 101

      # The next response's head. For an informational response it takes the end, too.
      def next_head(deadlines, phase)
        head = event(deadlines, phase)
        return head unless informational?(head)
        skip_informational
        head
      end

      # The end of an informational response comes with its head.
      def skip_informational
        if (@informational += 1) > INFORMATIONAL
          raise ProtocolError, "the server sent more than #{INFORMATIONAL} informational responses and no final one"
        end
        @parser.next
      end

      # The parser's next event.
      def event(deadlines, phase)
        till = nil
        sending = phase == :response_timeout && @given > 65_536 # a smaller request leaves at once
        loop do
          event = @parser.next
          return event if event
          left = @parser.left
          return receive_past_parser(left, deadlines, phase) if left >= 16_384
          till ||= deadlines.till(phase)
          begin
            @parser.feed(@stream.readpartial(65_536, timeout: sending ? until_check(till) : till && Clock.left(till)))
            @answered = true
          rescue EOFError
            @keep_alive = false
            return finish_message || raise
          rescue TimeoutError
            till = deadlines.till(phase) if sending && progress?
            raise deadlines.over(phase) if till && till <= Clock.now
          end
        end
      end

      # The end of the connection is that of the message, or breaks it off.
      def finish_message
        @parser.finish
      rescue ProtocolError => error
        raise ConnectionError, error.message
      end

      # Receives a large rest of a body without a copy through the parser.
      def receive_past_parser(left, deadlines, phase)
        piece = @stream.readpartial([left, 65_536].min, timeout: deadlines.left(phase))
        @parser.skip(piece.bytesize)
        piece
      rescue EOFError
        finish_message
      rescue TimeoutError
        raise deadlines.over(phase)
      end

      # Gives the connection back to the pool.
      def finish
        @busy = false
        @done.call(self)
      end

      # Takes the end of a response without a body from the parser.
      def end_of_message(deadlines)
        event(deadlines, :read_timeout)
        finish
      end
    end
  end
end
