# frozen_string_literal: true

require "pelton/clock"
require_relative "../statistics"
require_relative "requests_beside"

module Pelton
  module Lab
    # Readers of event streams, all at once, while pages are requested.
    class EventStreams
      # @!attribute seconds [Float] until the last stream had ended
      # @!attribute first_ms [Float] 99 of a hundred streams had their first event within
      # @!attribute gap_ms [Float] 99 of a hundred events came so long after the one before
      # @!attribute page_ms [Float] 99 of a hundred pages came within
      Done = Struct.new(:requests, :seconds, :first_ms, :gap_ms, :page_ms)

      # @param server [WebServer]
      # @param events [Integer] of each stream
      def initialize(run, server, events:)
        require "pelton/http" # the list of the experiments needs no extension
        @run, @server, @events = run, server, events
      end

      # @param count [Integer] of streams
      # @param pages [Integer] that are asked for meanwhile, 200 a second
      # @return [Done]
      def read(count, pages)
        done = nil
        Pelton.run do
          client = Pelton::HTTP::Client.new(@server.url(""), concurrency: count, timeout: nil)
          beside = RequestsBeside.new(@run, @server.url("/"))
          started = Clock.now
          paging = Pelton.spawn { beside.pace(pages) }
          times = Pelton.map(1..count, concurrency: count) { stream(client) }
          seconds = Clock.now - started
          paging.await
          gaps = times.flat_map { |one| one.each_cons(2).map { |before, after| (after - before) * 1000 } }
          done =
            Done.new(count, seconds,
              *[times.map { |one| (one.first - started) * 1000 }, gaps]
                .map { |values| Statistics.percentile(values, 0.99) },
              beside.last.p99_ms)
        ensure
          Pelton.stop
        end
        done
      end

      private

      # @return [Array<Float>] when its events came
      def stream(client)
        times, rest = [], +""
        client.get("/stream", stream: true).each do |piece|
          rest << piece
          times << Clock.now while rest.slice!(/\Adata: token#{times.size}\n\n/)
        end
        @run.expect(@events, times.size, "the events of a stream")
        times
      end
    end
  end
end
