# frozen_string_literal: true

require "socket"
require "pelton/clock"
require_relative "../statistics"
require_relative "requests_beside"

module Pelton
  module Lab
    # Readers of event streams, all at once, while pages are requested. The client must not be the bottleneck: the
    # readers are plain sockets in one thread, which looks at what it has read when all have ended, and the pages are
    # requested by a process of their own.
    class EventStreams
      # @!attribute seconds [Float] until the last stream had ended
      # @!attribute first_ms [Float] 99 of a hundred streams had their first event so soon after they began to connect
      # @!attribute gap_ms [Float] 99 of a hundred events came so long after the one before
      # @!attribute page_ms [Float] 99 of a hundred pages came within
      # @!attribute alone_ms [Float] the same without streams, before them
      Done = Struct.new(:requests, :seconds, :first_ms, :gap_ms, :page_ms, :alone_ms)

      # When it began to connect, when its events came, and all that came.
      Stream = Struct.new(:began, :times, :text) do
        # @return [Float] milliseconds
        def first = (times.first - began) * 1000

        # @return [Array<Float>] milliseconds
        def gaps = times.each_cons(2).map { |before, after| (after - before) * 1000 }
      end

      # Seconds without any event, after which the server has failed.
      DEADLINE = 30
      # How many streams are opened before those that are open are looked at.
      BETWEEN = 20

      # @param server [WebServer]
      # @param events [Integer] of each stream
      def initialize(run, server, events:)
        @run, @server, @events = run, server, events
      end

      # @param count [Integer] of streams
      # @param pages [Integer] that are asked for before, and again meanwhile, 200 a second
      # @return [Done]
      def read(count, pages)
        beside = RequestsBeside.new(@run, @server.url("/"))
        alone = beside.pace(pages)
        paging = beside.in_a_process(pages)
        started = Clock.now
        streams = read_all(count)
        seconds = Clock.now - started
        paged = paging.call
        streams.each { |stream| check(stream.text) }
        p99 = ->(values) { Statistics.percentile(values, 0.99) }
        Done.new(count, seconds, p99.call(streams.map(&:first)), p99.call(streams.flat_map(&:gaps)), paged.p99_ms,
          alone.p99_ms)
      end

      private

      # @return [Array<Stream>] which have ended
      def read_all(count)
        streams = {}
        open = []
        count.times do |number|
          socket, stream = connect
          streams[socket] = stream
          open << socket
          open -= take_from(open, streams, 0) if number % BETWEEN == 0
        end
        open -= take_from(open, streams, DEADLINE) until open.empty?
        streams.values
      ensure
        streams&.each_key(&:close)
      end

      # @param seconds [Numeric] to wait for an event; 0: not at all
      # @return [Array<TCPSocket>] those that have ended
      def take_from(sockets, streams, seconds)
        ready, = IO.select(sockets, nil, nil, seconds)
        @run.expect(true, !ready.nil?, "whether an event came within #{seconds} s") if seconds > 0
        ready.to_a.select { |socket| take(socket, streams[socket]) == :ended }
      end

      # @return [Array(TCPSocket, Stream)]
      def connect
        began = Clock.now
        socket = TCPSocket.new("127.0.0.1", @server.port)
        socket.write("GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        [socket, Stream.new(began, [], +"")]
      end

      def take(socket, stream)
        piece, now = socket.readpartial(16_384), Clock.now
        piece.scan("\n\n") { stream.times << now }
        stream.text << piece
      rescue EOFError
        :ended
      end

      def check(text)
        tokens = text.scan(/^data: token(\d+)\n\n/).map { |number,| Integer(number) }
        @run.expect([*0...@events], tokens, "the events of a stream")
      end
    end
  end
end
