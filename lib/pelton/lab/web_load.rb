# frozen_string_literal: true

require_relative "programs"

module Pelton
  module Lab
    # Programs that ask a web server for much, from the core that the contender is not on. An answer that failed makes the
    # contender wrong.
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

      private

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
