# frozen_string_literal: true

require_relative "http2_exchange"

module Pelton
  module HTTP
    # A connection of the client by HTTP/2, which all requests to an origin share.
    #
    # No fiber belongs to it. Of the exchanges that wait, one receives for all: so it works where no reactor runs, too.
    # When that one has what it waited for, it passes the role to the next. An exchange receives only in {#wait_until};
    # what comes without a waiter stays in the socket, or is read when the connection is taken again.
    # @private
    class ClientHttp2Connection
      include Opaque

      # Bytes that wait in the stream for the socket. More stay in the session, where a cancelled request drops them.
      OUTPUT = 131_072

      # Seconds between two tries to send, where no reactor does it meanwhile.
      SEND_INTERVAL = 1

      # @return [Array] the origin, see {ClientRequest#origin}
      attr_reader :origin

      # @return [Float] the end of its idle time, on the monotonic clock
      attr_reader :expires

      # @return [Error, EOFError, nil] what has ended the connection
      attr_reader :failure

      # @return [Integer] how often bytes have come
      attr_reader :received

      # @return [Integer] requests that got a response
      attr_accessor :answered

      # @param stream [Stream]
      # @yieldparam connection [ClientHttp2Connection] at the end of each exchange
      def initialize(stream, origin, &done)
        @stream = stream
        @origin = origin
        @done = done
        @session = Http2Session.new
        @exchanges = {}.compare_by_identity
        @waiters = {}.compare_by_identity # an Operation for each exchange that waits for another to receive
        @queue = {}.compare_by_identity   # exchanges that wait for a stream, in order
        @open = {}.compare_by_identity    # exchanges that have a stream at the server
        @received = @answered = 0
        @buffer = +""
      end

      def http2? = true

      # An exchange for a request, as soon as the server allows a stream more. It counts as a user of the connection.
      #
      # @return [ClientHttp2Exchange, nil] nil: the connection takes no requests any more
      # @raise [TimeoutError]
      # @asynchronous
      def open(till)
        @exchanges[exchange = ClientHttp2Exchange.new(self)] = true
        admitted = exchange if admit(exchange, till)
      ensure
        leave_exchange(exchange) unless admitted
      end

      # Begins the stream of an exchange.
      #
      # @return [Http2Stream]
      def begin(exchange, head, scheme, no_body)
        stream = Http2Stream.new(@session, exchange, head, scheme, no_body)
        flush
        stream
      end

      # Whether another request may come.
      def usable? = !@failure && !@session.leaving?

      # The same of an idle connection, which may have received something.
      def reusable?
        receive(Clock.now) until @failure || @stream.quiet?
        usable?
      rescue TimeoutError # part of a TLS record
        usable?
      end

      def handed_over? = false

      def idle? = @exchanges.empty?

      # Begins an idle time of so many seconds.
      def begin_idle(seconds)
        @expires = Clock.now + seconds
        self
      end

      # Waits until the block returns something.
      #
      # @param till [Float, nil] on the monotonic clock
      # @raise [TimeoutError]
      # @asynchronous
      def wait_until(exchange, till)
        until (value = yield)
          if @receiver.nil? || @receiver.equal?(exchange)
            @receiver = exchange
            # though bytes for others come all the time
            raise TimeoutError, "the time is over" if till && till <= Clock.now
            receive(till)
          else
            @waiters[exchange] = waiter = Operation.new
            waiter.await(timeout: till && Clock.left(till))
          end
        end
        value
      ensure # Ruby's Timeout leaves by throw
        @waiters.delete(exchange) if waiter
        pass_on if @receiver.equal?(exchange)
      end

      # Sends what the session has to say, as far as the socket takes it. The rest follows by itself.
      def flush
        return if @failure
        while @stream.pending < OUTPUT && (bytes = @session.take(65_536))
          @stream.write(bytes, timeout: SEND_INTERVAL)
          return if @failure # another task broke the connection off meanwhile
          sent = true
        end
        @session.news.each { |exchange| notify(exchange) } if sent
        return break_off(ProtocolError.new("the server broke the protocol HTTP/2")) if @session.over?
        flush_later if @stream.pending >= OUTPUT && Pelton.running?
      rescue TimeoutError
        nil # the bytes are queued
      rescue ConnectionError, ClosedError => error
        break_off(error)
      end

      # The exchange's stream is closed at the server.
      def free(exchange) = @open.delete(exchange) && admit_next

      # The exchange is over.
      def leave_exchange(exchange)
        @exchanges.delete(exchange) or return
        free(exchange)
        flush
        @done.call(self)
      end

      # Closes the connection.
      def abort
        @failure ||= ClosedError.new("the connection was closed")
        @stream.abort
      end

      # Closes the connection after its last response.
      def leave
        @failure ||= ClosedError.new("the connection was closed")
        @stream.close
      end

      private

      # @return [Boolean] false: the connection takes no requests any more
      def admit(exchange, till)
        unless @queue.empty? && free?
          @queue[exchange] = true
          wait_until(exchange, till) { !usable? || (free? && @queue.first[0].equal?(exchange)) }
        end
        return false unless usable?
        @open[exchange] = true
      ensure
        admit_next if @queue.delete(exchange)
      end

      # Before the server has said how many streams it allows, it gets one.
      def free? = @open.size < (@session.allowed || 1)

      def admit_next
        first, = @queue.first
        wake(first) if first && (free? || !usable?)
      end

      def receive(till)
        sending = @stream.pending.positive? && !Pelton.running?
        bytes = @stream.readpartial(65_536, @buffer, timeout: sending ? until_next_try(till) : till && Clock.left(till))
        @received += 1
        @session.receive(bytes).each { |exchange| notify(exchange) }
        admit_next
        flush
      rescue TimeoutError
        raise if till && till <= Clock.now
        flush
      rescue EOFError, ConnectionError, ClosedError, LimitError => error
        break_off(error)
      end

      def until_next_try(till) = till ? [Clock.left(till), SEND_INTERVAL].min : SEND_INTERVAL

      def notify(exchange)
        free(exchange) if exchange.closed?
        wake(exchange)
      end

      def wake(exchange) = @waiters.delete(exchange)&.succeed(nil)

      def pass_on
        @receiver, waiter = @waiters.shift
        waiter&.succeed(nil)
      end

      def flush_later
        return if @flushing
        @flushing = true
        sent = @stream.later.flush
        sent.callback do
          @flushing = false
          flush
        end
        sent.errback { |error| break_off(error) }
      end

      # Ends the connection and all exchanges.
      def break_off(error)
        return if @failure
        @failure = error
        say_why if error.is_a?(ProtocolError) || error.is_a?(LimitError)
        @stream.abort
        @session.abandon
        @waiters.keys.each { |exchange| wake(exchange) }
      end

      # Sends what the session has left to say, as far as that can be done at once.
      def say_why
        last = @session.take(65_536) or return
        @stream.write(last, timeout: 0)
        @stream.flush(timeout: 0)
      rescue TimeoutError, ConnectionError, ClosedError
        nil
      end
    end
  end
end
