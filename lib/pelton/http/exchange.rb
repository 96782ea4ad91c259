# frozen_string_literal: true

module Pelton
  module HTTP
    # One request and its response. An application gets it as `env["async.callback"]`, `env["async.close"]`,
    # `env["rack.hijack"]`, and `env["rack.early_hints"]` where the server offers it, which are one object:
    #
    # - `call([status, headers, body])` answers a request whose handler has returned `[-1, {}, []]` or thrown `:async`;
    # - `call` without arguments takes the connection over, as an IO; {#hijack} does it as a {Stream};
    # - `call(headers)` sends 103 Early Hints;
    # - `callback { }` notifies that the client has left, in Thin's style.
    #
    # Once the response is complete, or the client has left, calls have no effect.
    class Exchange
      include Opaque

      # @!method call(argument = nil)
      #   @param argument [Array, Hash] a response, or early hints; none: hijack
      #   @return [IO, nil] the socket of a hijacked connection
      #   @raise [ClosedError] hijacking a closed connection
      #   @asynchronous sending the body of a response may wait

      # @!method hijack
      #   Takes the connection over, with the bytes that were received after the head. The handler's response is
      #   ignored.
      #   @return [Stream] which the caller closes
      #   @raise [ClosedError] the client has left, or the exchange is over
      #   @raise [Error] the request came by HTTP/2: its connection belongs to others, too

      # @!method accept(headers)
      #   Accepts the WebSocket that a client of HTTP/2 asks for.
      #   @param headers [Hash{String => String}] of the response
      #   @return [Stream] which the caller closes
      #   @raise [ClosedError] the client has left, or the exchange is over
      #   @raise [Error] the request asks for no WebSocket, or not by HTTP/2
      #   @api private

      # @!method write(string)
      #   Sends a part of the response's body. Waits while more than 64 KB are queued, and for its turn among other
      #   responses.
      #   @return [Integer] bytes
      #   @raise [ClosedError] the client has left
      #   @raise [Error] the response has no head yet
      #   @raise [TimeoutError] the client has not read for the server's `write_timeout`, and its connection is closed
      #   @asynchronous

      # @!method send_file(descriptor, count, from = 0)
      #   Sends so many bytes of a file, from that position on, as a part of a body that has a length, without passing
      #   them through this process.
      #   @return [Integer, nil] bytes, fewer when the file is shorter; nil when they must be written instead
      #   @raise (see #write)
      #   @asynchronous
      #   @api private

      # @!method fits?(length)
      #   @return [Boolean] whether so many bytes of the body may be sent without passing through this process
      #   @api private

      # @!method write_directly(string)
      #   Writes a part of a body that {#fits?}, or nil, without waiting.
      #   @return [Stream, nil] where the bytes after it may be sent at once
      #   @api private

      # @!method passed(count)
      #   So many bytes of the body were sent to the stream of {#write_directly}.
      #   @return [Integer] count
      #   @api private

      # @!method flush
      #   Sends the written bytes now instead of at the end of the tick.
      #   @return [self]

      # @!method finish(trailers = nil)
      #   Completes the response's body.
      #   @param trailers [Hash{String => String}, nil] sent after a chunked body
      #   @return [nil]
      #   @raise [Error] the response has no head yet, or its body is shorter than its content-length
      #   @raise [ArgumentError] a trailer is malformed; no trailer has been sent then

      # @!method abort
      #   Closes the connection, so the client sees that the response is not complete.
      #   @return [nil]

      # @!method callback
      #   Calls the block once: when the client has closed its side, perhaps while the response is being made, or else
      #   at the end of the response. A client that has only shut down its sending side can still receive.
      #   @return [self]

      # @!method errback
      #   Does nothing. It exists for code that expects a Deferrable: this one never fails.
      #   @return [self]

      # @!method open?
      #   @return [Boolean] whether the client can still receive

      # @!method server
      #   @return [Server] the server of the request
      #   @raise [ClosedError] the exchange is over

      # @!method tls
      #   @return [TLS::Info, nil] the client's certificate, the server name it asked for, and the version; nil without
      #     TLS
      #   @raise [ClosedError] the exchange is over
    end

    # The stream of a streaming body (`body.call(stream)`): it reads the request and writes the response.
    class BodyStream
      include Opaque

      # @private
      def initialize(exchange)
        @exchange = exchange
        @input = Input.new(exchange)
        @closed = false
      end

      # See {Input#read}.
      # @asynchronous
      def read(length = nil, buffer = nil) = @input.read(length, buffer)

      # See {Input#readpartial}.
      # @asynchronous
      def readpartial(length, buffer = nil) = @input.readpartial(length, buffer)

      # Sends several strings: see {Exchange#write}.
      #
      # @return [Integer] bytes
      # @raise [ClosedError] the stream was closed, or the client has left
      # @asynchronous
      def write(*strings)
        raise ClosedError, "the stream is closed" if @closed
        strings.sum { |string| @exchange.write(string) }
      end

      # @return [self]
      # @raise (see #write)
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

      # Completes the response, with trailers after a chunked body. It may be called more than once.
      #
      # @param trailers [Hash{String => String}, nil] a client of HTTP/1.0 does not get them
      # @raise [ArgumentError] a trailer is malformed; the stream stays open
      def finish(trailers = nil)
        return if @closed
        @exchange.finish(trailers)
        @closed = true
        nil
      end

      # Completes the response, or breaks it off. It may be called more than once.
      #
      # @param error [Exception, nil] the reason why the response is incomplete: the connection is closed, so the client
      #   notices
      def close(error = nil)
        return if @closed
        @closed = true
        error ? @exchange.abort : @exchange.finish
        nil
      end

      # Drops the rest of the request's body.
      def close_read = @input.close

      # See {#close}.
      def close_write = close

      # Whether the stream was closed, or the client has left.
      def closed? = @closed || !@exchange.open?
    end
  end
end
