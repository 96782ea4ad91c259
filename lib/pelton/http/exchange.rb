# frozen_string_literal: true

module Pelton
  module HTTP
    # One request and its response. An application has it in hand as `env["async.callback"]`, `env["async.close"]`,
    # `env["rack.hijack"]` and `env["rack.early_hints"]`, which are one object:
    #
    # - `call([status, headers, body])` answers a request whose handler has returned `[-1, {}, []]` or thrown `:async`;
    # - `call` without arguments takes the connection over, as an IO; {#hijack} does it as a {Stream};
    # - `call(headers)` sends 103 Early Hints;
    # - `callback { }` is told that the client has left, as Thin's users write it.
    #
    # Once the response is complete, or the client is gone, calls change nothing.
    class Exchange
      # @!method call(argument = nil)
      #   @param argument [Array, Hash] an answer, or early hints; none: hijack
      #   @return [IO, nil] the socket of a hijacked connection
      #   @raise [ClosedError] hijacking a connection that is closed
      #   @asynchronous the body of an answer may wait

      # @!method hijack
      #   Takes the connection over, with what was received behind the head. The response is ignored.
      #   @return [Stream] which the caller closes
      #   @raise [ClosedError] when the client is gone, or the exchange is over

      # @!method write(string)
      #   Sends a part of the response's body. Waits while more than 1 MB is queued.
      #   @return [Integer] bytes
      #   @raise [ClosedError] when the client is gone
      #   @raise [Error] before the response has a head
      #   @raise [TimeoutError] when the client does not read for the server's `write_timeout`: its connection is closed then
      #   @asynchronous

      # @!method flush
      #   Sends what was written at once instead of at the tick's end.
      #   @return [self]

      # @!method finish(trailers = nil)
      #   The response's body is complete.
      #   @param trailers [Hash{String => String}, nil] sent behind a chunked body
      #   @return [nil]
      #   @raise [Error] before the response has a head, and when its body is shorter than its content-length
      #   @raise [ArgumentError] for a malformed trailer; nothing of them is sent then

      # @!method abort
      #   Closes the connection, so that the client sees that the response is not complete.
      #   @return [nil]

      # @!method callback
      #   Has the block called once: when the client has closed its side, which may be while its response is still made, or
      #   else when the response is over. A client that has only shut its side can still be written to.
      #   @return [self]

      # @!method errback
      #   There for those who expect a Deferrable: it never fails.
      #   @return [self]

      # @!method open?
      #   @return [Boolean] whether the client can still be written to

      # @!method server
      #   @return [Server] whose request it is
      #   @raise [ClosedError] when the exchange is over

      # @!method tls
      #   @return [TLS::Info, nil] the client's certificate, the name it asked for, the version; nil without TLS
      #   @raise [ClosedError] when the exchange is over
    end

    # What a streaming body (`body.call(stream)`) reads the request from and writes the response to.
    class BodyStream
      # @private
      def initialize(exchange)
        @exchange = exchange
        @input = Input.new(exchange)
        @closed = false
      end

      # As {Input#read}.
      # @asynchronous
      def read(length = nil, buffer = nil) = @input.read(length, buffer)

      # As {Input#readpartial}.
      # @asynchronous
      def readpartial(length, buffer = nil) = @input.readpartial(length, buffer)

      # As {Exchange#write}, of several strings.
      #
      # @return [Integer] bytes
      # @raise [ClosedError] it was closed, or the client is gone
      # @asynchronous
      def write(*strings)
        raise ClosedError, "the stream is closed" if @closed
        strings.sum { |string| @exchange.write(string) }
      end

      # @return [self]
      # @raise [ClosedError] as {#write}
      # @asynchronous
      def <<(string)
        write(string)
        self
      end

      # @return [self]
      def flush
        @exchange.flush unless @closed
        self
      end

      # The response is complete, but for trailers behind a chunked body. Legal when it is closed.
      #
      # @param trailers [Hash{String => String}, nil] a client of HTTP/1.0 does not see them
      # @raise [ArgumentError] for a malformed trailer; the stream is open then
      def finish(trailers = nil)
        return if @closed
        @exchange.finish(trailers)
        @closed = true
        nil
      end

      # The response is complete. Legal when it is closed.
      #
      # @param error [Exception, nil] what kept it from being complete: the client is told by the connection's end
      def close(error = nil)
        return if @closed
        @closed = true
        error ? @exchange.abort : @exchange.finish
        nil
      end

      # What is left of the request's body is not read.
      def close_read = @input.close

      # As {#close}.
      def close_write = close

      # Whether it was closed, or the client is gone.
      def closed? = @closed || !@exchange.open?
    end
  end
end
