# frozen_string_literal: true

require "socket"
require_relative "../clock"
require_relative "pattern"
require_relative "pinning"
require_relative "programs"
require_relative "slow_readers"
require_relative "web_crowd"

module Pelton
  module Lab
    # What asks a web server for much, from the core that the contender is not on: programs, and for what they cannot do this
    # process, which moves there. An answer that failed makes the contender wrong.
    class WebLoad
      # What was done.
      Done = Struct.new(:requests, :seconds)

      # What stands for a race's server: the contenders are the servers, and this one asks.
      Program = Struct.new(:version, :port)

      # @raise [Unavailable] where it is not installed
      def self.program(name)
        version = Programs.version(name) or raise Unavailable, "#{name} is not installed"
        Program.new("#{name} #{version}")
      end

      # @param run [Run] whose core and whose verdict it is
      def initialize(run)
        @run = run
      end

      # Keeps connections busy for a while, one request after the other on each.
      # @return [Done]
      def wrk(url, seconds:, connections: 64)
        said = call("wrk", "-t", "1", "-c", connections.to_s, "-d", seconds.to_s, "--timeout", "20s", url)
        @run.wrong("wrk: #{$&}") if said[/^ *(Socket errors|Non-2xx).*/]
        requests, time, unit = said.match(/(\d+) requests in ([\d.]+)(m?s|m)/)&.captures
        raise "wrk failed: #{said.strip.lines.last}" unless requests
        Done.new(Integer(requests), time.to_f * {"ms" => 0.001, "s" => 1, "m" => 60}.fetch(unit)).tap do |done|
          @run.wrong("wrk had no answer") if done.requests.zero?
        end
      end

      # Asks so many times, on a new connection each.
      # @param bytes [Integer] how long each body must be
      # @return [Done]
      def ab(url, requests:, connections:, bytes:)
        said = call("ab", "-q", "-s", "120", "-n", requests.to_s, "-c", [connections, requests].min.to_s, url)
        done = Done.new(field(said, "Complete requests").to_i, field(said, "Time taken for tests").to_f)
        @run.expect(requests, done.requests, "the number of answers")
        @run.expect(0, field(said, "Failed requests").to_i + said[/^Non-2xx responses:\s+(\d+)/, 1].to_i, "the number of failed requests")
        @run.expect(bytes, field(said, "Document Length").to_i, "the number of bytes of an answer")
        done
      end

      # Asks at fixed times, on a new connection each. A time counts from when its request was due, not from when the answer before
      # it let it go; between two requests the block has its turn. Who asks collects no garbage meanwhile: it would be the server's
      # delay.
      # @param interval [Numeric] seconds
      # @return [Array<Float>] seconds until each answer
      def paced(server, requests:, interval:, body:)
        here
        GC.start
        GC.disable
        first = Clock.now
        Array.new(requests) do |n|
          due = first + n * interval
          sleep(Clock.left(due))
          @run.expect(body, server.get.body)
          (Clock.now - due).tap { yield }
        end
      ensure
        GC.enable
      end

      # Receives what is at a path so many times, on a new connection each, and compares it with so many bytes of the {Pattern}.
      # @return [Done]
      def receive(server, path, times:, bytes:)
        here
        started = Clock.now
        buffer = "".b
        times.times do
          socket = TCPSocket.new("127.0.0.1", server.port)
          socket.write("GET #{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
          @run.expect(bytes.to_s, socket.gets("\r\n\r\n").to_s[/^content-length: *(\d+)/i, 1], "an answer's length")
          Pattern.each_block(bytes) { |block| @run.expect(true, socket.read(block.bytesize, buffer) == block, "whether the bytes are the file's") }
          socket.close
        end
        Done.new(times, Clock.now - started)
      end

      # @return [WebCrowd]
      def crowd(server, size, body:)
        here
        WebCrowd.new(@run, server.port, size, body:)
      end

      # @return [SlowReaders]
      def slow_readers(server, path, size, body:)
        here
        SlowReaders.new(@run, server.port, path, size, body:)
      end

      private

      # This process asks, too: from where the programs do.
      def here
        @here ||= Pinning.move(@run.server_core) || true
      end

      def call(*command)
        pinned = @run.server_core ? ["taskset", "-c", @run.server_core.to_s] : []
        IO.popen([*pinned, *command, err: %i[child out]], &:read).scrub
      end

      def field(said, name)
        said[/^#{name}:\s+([\d.]+)/, 1] or raise "ab failed: #{said.strip.lines.last&.strip}"
      end
    end
  end
end
