# frozen_string_literal: true

require "json"
require_relative "../inflation"

module Pelton
  module HTTP
    # The response of a server.
    class ClientResponse
      include Enumerable

      # @return [Integer] 200
      attr_reader :status

      # @return [String] "OK"; some servers send none, and it is empty
      attr_reader :reason

      # @return [Hash{String => String, Array<String>}] names in lower case; an Array for a header that was sent several
      #   times
      attr_reader :headers

      # @return [URI] the URL of the response, after redirects
      attr_reader :url

      # @private
      def initialize(request, head, connection, deadlines, settings)
        @status, @reason, _minor, @headers, _keep_alive, @length, @has_body = head
        @url = request.url
        @request = request
        @connection = connection
        @deadlines = deadlines
        @limit = settings[:max_body]
        if settings[:decode] && @has_body
          @inflation = Inflation.for(self["content-encoding"]) { |error| request.named(error) }
        end
        @done = !@has_body && @status != 101
      end

      # @return [String, nil] a header's value, whatever the case of the name; several values are joined by commas
      def [](name)
        value = @headers[name.downcase]
        value.is_a?(Array) ? value.join(", ") : value
      end

      # Whether the status is 2xx.
      def ok? = (200..299).cover?(@status)

      # Yields the body piece by piece as it arrives, inflated. It can be read once.
      #
      # @yieldparam piece [String] binary
      # @return [self]
      # @raise [Error] the body was read already, or the response was closed
      # @raise [ConnectionError] the connection ends before the body does
      # @raise [TimeoutError]
      # @asynchronous
      def each(&block)
        return enum_for(:each) unless block
        return yield(@body) || self if @body
        return self unless @has_body
        raise Error, "the body was read already" if @begun
        raise Error, "the response was closed, and its connection given back" if @done
        @begun = true
        read(&block)
        self
      ensure
        discard unless @done || @body || !block
      end

      # Yields the server's events as they come, until the response ends. For the whole stream of a server that closes
      # connections now and then, see {Client#each_event}.
      #
      # @param max_event [Integer] bytes of an event
      # @yieldparam event [Event]
      # @return [self]
      # @raise [ProtocolError] the response is no stream of events: its status is not 200, or its type is another one
      # @raise [LimitError] an event is larger
      # @raise as {#each}
      # @asynchronous
      def each_event(max_event: 1 << 20, &block)
        return enum_for(:each_event, max_event: max_event) unless block
        _each_event(EventParser.new(limit: max_event), &block)
      end

      # @private
      def _each_event(parser, &block)
        unless @status == 200 && self["content-type"].to_s.match?(%r{\Atext/event-stream\s*(;|\z)}i)
          discard
          raise @request.named(ProtocolError.new("the response is no stream of events: #{@status} #{@reason}, " \
            "#{self["content-type"] || "no content type"}"))
        end
        each { |piece| parser.feed(piece, &block) }
      end

      # @return [String] the body, in the encoding of Content-Type
      # @raise [LimitError] the body is longer than `max_body`: read it by {#each} (`stream: true`)
      # @asynchronous
      def body
        @body ||= collect
      end

      # @return [Object] the body, parsed as JSON
      # @raise [JSON::ParserError]
      def json(**options) = JSON.parse(body, **options)

      # Drops the unread part of the body. The connection is closed, unless little is left to read.
      #
      # @return [nil]
      # @asynchronous
      def discard
        return if @done
        if @length && @length <= SMALL && !@begun
          nil while @connection.next_piece(@deadlines)
        else
          @connection.abort
        end
        @done = true
        nil
      rescue ConnectionError, TimeoutError
        @done = true
        nil
      end

      alias_method :close, :discard

      # Takes the connection over after 101 Switching Protocols.
      #
      # @return [Array(Stream, String)] the stream, and the bytes that the server has sent on it already
      # @raise [Error] the status is not 101
      def upgrade
        raise Error, "the server did not switch protocols: #{@status}" unless @status == 101
        @done = true
        @connection.hand_over
      end

      # @private
      def body? = @has_body

      # @private Has the body read from what the block makes of the connection.
      def read_through = @connection = yield(@connection)

      # @private Gives the connection back when the garbage collector takes a response that was not read.
      def watched(pool)
        pool.watch(self, @connection) unless @done
        self
      end

      def inspect = "#<#{self.class.name} #{@status} #{@reason} #{ClientRequest.shown(@url)}>"

      # The size in bytes up to which discard reads the rest instead of closing the connection.
      SMALL = 16_384
      # Compressed bytes that are inflated without giving others a turn.
      INFLATED_AT_ONCE = 4096
      private_constant :SMALL, :INFLATED_AT_ONCE

      private

      def read(&block)
        while (piece = @connection.next_piece(@deadlines))
          @inflation ? inflate(piece, &block) : yield(piece)
        end
        @done = true
        @inflation&.finish
      end

      # A piece may inflate to a thousand times its length, so others run in between.
      def inflate(piece, &block)
        0.step(piece.bytesize - 1, INFLATED_AT_ONCE) do |start|
          @inflation.add(piece.byteslice(start, INFLATED_AT_ONCE), &block)
          Reactor.current.yield if Pelton.running? && piece.bytesize > INFLATED_AT_ONCE
        end
      end

      def collect
        body = +""
        body.force_encoding(Encoding::BINARY)
        return body unless @has_body
        refuse if @length && !@inflation && too_much?(@length)
        each do |piece|
          refuse if too_much?(body.bytesize + piece.bytesize)
          body << piece
        end
        body.force_encoding(encoding)
      end

      def too_much?(length) = @limit && length > @limit

      def refuse
        discard
        raise @request.named(
          LimitError.new("the body is longer than max_body (#{@limit} bytes). stream: true has no limit")
        )
      end

      def encoding
        type = self["content-type"].to_s
        name = type[/;\s*charset="?([^\s;"]+)/i, 1]
        return Encoding.find(name) if name
        type.match?(%r{\A(text/|application/([\w.+-]+\+)?(json|xml))}i) ? Encoding::UTF_8 : Encoding::BINARY
      rescue ArgumentError
        Encoding::BINARY
      end
    end
  end
end
