# frozen_string_literal: true

require_relative "client_response"

module Pelton
  module HTTP
    # A connection of the client: one request at a time, and its response.
    # @private
    class ClientConnection
      # 1xx responses that are passed over before the one that counts.
      INFORMATIONAL = 100

      # Seconds after which a send that stands still is looked at again: it may be that the server has answered already.
      GLANCE = 1

      # @return [Stream]
      attr_reader :stream

      # @return [Array] the origin, see {ClientRequest#origin}
      attr_reader :origin

      # @return [Float] until when it may be idle, on the monotonic clock
      attr_reader :expires

      # @param stream [Stream]
      # @param proxied [Hash, nil] requests go to a proxy: the headers it wants
      # @yieldparam connection [ClientConnection] when its response is over: see {#reusable?}
      def initialize(stream, origin, proxied: nil, &done)
        @stream = stream
        @origin = origin
        @proxied = proxied
        @done = done
        @parser = Parser.new(:response)
        @used = 0
        @answered = false
      end

      # Whether the request that has just failed may never have been seen by the server: the connection was idle before, and
      # nothing came back.
      def stale? = @used > 1 && !@answered

      # Whether another request may follow.
      def reusable? = @keep_alive && !@parser.within? && @stream._quiet?

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
        @passed = @given = @sent = 0
        failure = send(request, deadlines)
        response = receive(request, deadlines, settings, failure)
        @keep_alive &&= !failure && !@early
        end_of_message(deadlines) unless response.body? || response.status == 101 # another protocol's from now on: see hand_over
        answered = response
      rescue Error => error
        raise request.named(error)
      ensure # a throw may leave it, too: Ruby's Timeout does so
        abort if !answered && busy == number
      end

      # @return [String, nil] the next piece of the body, as it was sent; nil at its end
      # @raise [ConnectionError] it ends before its end
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

      # Closes it. Legal when it is closed, and when it is another request's by now.
      def abort
        @keep_alive = false
        @stream.abort
        finish
      end

      # @return [Integer, nil] which of its requests it is busy with
      def busy = (@used if @busy)

      # As it becomes idle, for so many seconds, or fewer if its server has said so. A second less, because what is sent as
      # the server closes is lost, and a POST is not sent again.
      def rest(seconds)
        @expires = Clock.now + [seconds, *@server_keeps&.-(1)].min
        self
      end

      # Closes it after its last response. What a server that has answered early did not take is dropped.
      def leave = @stream.pending.zero? ? @stream.close : @stream.abort

      # Gives the stream away, for another protocol, with what came behind the head.
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

      # Returns the error that kept the request from being sent to its end. The server may have answered all the same.
      def send(request, deadlines)
        request = request.unasked if @deaf && request.asks?
        head = request.to_head(absolute: !!@proxied, extra: @proxied || {})
        body = request.body
        if body.nil? || (body.string? && !request.asks?)
          write(deadlines, head, *body&.to_s)
        else
          write(deadlines, head)
          body.each_framed { |*pieces| (early? || write(deadlines, *pieces)) && break } if !request.asks? || wanted?(deadlines)
        end
        nil
      rescue TimeoutError
        raise
      rescue ConnectionError => error
        error
      end

      # Whether the server wants the body, or does not say so: not all understand the question. Otherwise it has answered.
      def wanted?(deadlines)
        head = next_head(deadlines, :expect_timeout)
        head = next_head(deadlines, :expect_timeout) while informational?(head) && head[0] != 100
        @early = head unless head[0] == 100
        !@early
      rescue TimeoutError
        deadlines.left(:expect_timeout) # raises when the time of all is over
        @deaf = true # it is not asked on this connection any more
      end

      # Returns whether the server has answered meanwhile: then nobody waits for the rest.
      def write(deadlines, *strings)
        @given += strings.sum(&:bytesize)
        till = deadlines.till(:write_timeout)
        begin
          @stream.write(*strings, timeout: glance(till))
          false
        rescue TimeoutError
          return true if early?
          till = deadlines.till(:write_timeout) if sends_on?
          raise deadlines.over(:write_timeout) if till && till <= Clock.now
          strings = [""] # what was given is queued: this waits for it
          retry
        end
      end

      # Whether some of the request has left since somebody asked last. What is large and goes on is not late.
      def sends_on?
        sent, @sent = @sent, @given - @stream.pending
        @sent > sent
      end

      # Whether the server has answered before it was sent all of the body: then the rest is spared.
      def early?
        until @early || @stream._quiet?
          @parser.feed(@stream.readpartial(65_536, timeout: 0))
          @answered = true
          while !@early && (head = @parser.next)
            @early = head unless informational?(head)
            pass_over if informational?(head)
          end
        end
        !!@early
      rescue TimeoutError
        false
      end

      # Seconds until somebody looks again.
      def glance(till) = till ? [Clock.left(till), GLANCE].min : GLANCE

      def receive(request, deadlines, settings, failure)
        head = @early || next_head(deadlines, :response_timeout)
        head = next_head(deadlines, :response_timeout) while informational?(head)
        raise ProtocolError, "the server's response: 101, though no other protocol was asked for" if head[0] == 101 && !request.upgrades?
        @answered = true
        @keep_alive = head[4]
        @server_keeps = head[3]["keep-alive"].to_s[/\btimeout=(\d{1,9})/i, 1]&.to_i
        ClientResponse.new(request, head, self, deadlines, settings)
      rescue EOFError, ConnectionError => error
        raise failure || error
      end

      # 101 is not: another protocol follows.
      def informational?(head) = head[0] < 200 && head[0] != 101

      # Of any response; of one that is informational with its end.
      def next_head(deadlines, phase)
        head = event(deadlines, phase)
        return head unless informational?(head)
        pass_over
        head
      end

      # An informational response's end comes with its head.
      def pass_over
        raise ProtocolError, "the server sends informational responses and no other" if (@passed += 1) > INFORMATIONAL
        @parser.next
      end

      # The parser's next event.
      def event(deadlines, phase)
        till = nil
        sending = phase == :response_timeout && @given > 65_536 # less is sent at once
        loop do
          event = @parser.next
          return event if event
          left = @parser.left
          return receive_past_parser(left, deadlines, phase) if left >= 16_384
          till ||= deadlines.till(phase)
          begin
            @parser.feed(@stream.readpartial(65_536, timeout: sending ? glance(till) : till && Clock.left(till)))
            @answered = true
          rescue EOFError
            @keep_alive = false
            return @parser.finish || raise
          rescue TimeoutError
            till = deadlines.till(phase) if sending && sends_on?
            raise deadlines.over(phase) if till && till <= Clock.now
          end
        end
      end

      # Much of a body is still to come: without a copy.
      def receive_past_parser(left, deadlines, phase)
        piece = @stream.readpartial([left, 65_536].min, timeout: deadlines.left(phase))
        @parser.skip(piece.bytesize)
        piece
      rescue EOFError
        @parser.finish
      rescue TimeoutError
        raise deadlines.over(phase)
      end

      # It is the pool's again.
      def finish
        @busy = false
        @done.call(self)
      end

      # A response without a body has an end all the same.
      def end_of_message(deadlines)
        event(deadlines, :read_timeout)
        finish
      end
    end
  end
end
