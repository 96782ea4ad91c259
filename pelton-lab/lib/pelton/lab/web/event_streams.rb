# frozen_string_literal: true

require "pelton/clock"
require_relative "../statistics"
require_relative "requests_beside"

module Pelton
  module Lab
    # Readers of event streams, all at once, while pages are requested. They read plain sockets and look at what they
    # have read when all have ended: with a client that takes responses apart, a thousand readers are the bottleneck.
    class EventStreams
      # @!attribute seconds [Float] until the last stream had ended
      # @!attribute first_ms [Float] 99 of a hundred streams had their first event within
      # @!attribute gap_ms [Float] 99 of a hundred events came so long after the one before
      # @!attribute page_ms [Float] 99 of a hundred pages came within
      # @!attribute alone_ms [Float] the same without streams, before them
      Done = Struct.new(:requests, :seconds, :first_ms, :gap_ms, :page_ms, :alone_ms)

      # @param server [WebServer]
      # @param events [Integer] of each stream
      def initialize(run, server, events:)
        require "pelton" # the list of the experiments needs no extension
        @run, @server, @events = run, server, events
      end

      # @param count [Integer] of streams
      # @param pages [Integer] that are asked for before, and again meanwhile, 200 a second
      # @return [Done]
      def read(count, pages)
        done = nil
        Pelton.run do
          beside = RequestsBeside.new(@run, @server.url("/"))
          alone = beside.pace(pages)
          started = Clock.now
          paging = Pelton.spawn { beside.pace(pages) }
          streams = Pelton.map(1..count, concurrency: count) { stream }
          seconds = Clock.now - started
          paging.await
          streams.each { |_, text| check(text) }
          times = streams.map(&:first)
          gaps = times.flat_map { |one| one.each_cons(2).map { |before, after| (after - before) * 1000 } }
          done =
            Done.new(count, seconds,
              *[times.map { |one| (one.first - started) * 1000 }, gaps]
                .map { |values| Statistics.percentile(values, 0.99) },
              beside.last.p99_ms, alone.p99_ms)
        ensure
          Pelton.stop
        end
        done
      end

      private

      # @return [Array(Array<Float>, String)] when its events came, and all that came
      def stream
        socket = Pelton.connect("127.0.0.1", @server.port)
        socket.write("GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        times, text = [], +""
        loop do
          piece, now = socket.readpartial(16_384), Clock.now
          piece.scan("\n\n") { times << now }
          text << piece
        end
      rescue EOFError
        [times, text]
      ensure
        socket&.close
      end

      def check(text)
        tokens = text.scan(/^data: token(\d+)\n\n/).map { |number,| Integer(number) }
        @run.expect([*0...@events], tokens, "the events of a stream")
      end
    end
  end
end
