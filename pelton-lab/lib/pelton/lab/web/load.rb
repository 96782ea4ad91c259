# frozen_string_literal: true

require "socket"
require "tempfile"
require "tmpdir"
require "pelton/clock"
require_relative "idle_connections"
require_relative "../pattern"
require_relative "../pinning"
require_relative "../programs"
require_relative "../statistics"
require_relative "slow_readers"

module Pelton
  module Lab
    # The clients of a web server, on the core that the contender is not on: programs, and for what they cannot do this
    # process, which moves there. A failed request makes the contender wrong.
    class WebLoad
      # The work of a load: how many requests in how many seconds; where they are known, the milliseconds in which half
      # of all answers had come, and 99 of a hundred.
      Done = Struct.new(:requests, :seconds, :p50_ms, :p99_ms)

      # Seconds of the units that wrk prints.
      UNITS = {"us" => 1e-6, "ms" => 0.001, "s" => 1, "m" => 60}.freeze

      # Stands for a race's server, where the contenders are the servers and a program is their client.
      Program = Struct.new(:version, :port)

      # @raise [Unavailable] where the program is not installed
      def self.program(name)
        version = Programs.version(name) or raise Unavailable, "#{name} is not installed"
        Program.new("#{name} #{version}")
      end

      # @param run [Run] gets the verdict, and says on which core the clients belong
      def initialize(run)
        @run = run
      end

      # Keeps connections busy for a while, one request after the other on each.
      # @param seconds [Integer]
      # @param requests_per_connection [Integer, nil] after so many requests one says "Connection: close", and wrk opens
      #   another connection in its place; so many on average, since wrk counts over all connections. nil: all
      #   connections stay
      # @param post [String, nil] the body of each request, as JSON; nil: GET
      # @param headers [Hash{String => String}] of each request
      # @return [Done]
      def wrk(url, seconds:, connections: 64, requests_per_connection: nil, post: nil, headers: {})
        said = script(requests_per_connection, post) do |options|
          options += headers.flat_map { |name, value| ["-H", "#{name}: #{value}"] }
          call("wrk", "-t", "1", "-c", connections.to_s, "-d", seconds.to_s, "--timeout", "20s", "--latency", *options,
            url)
        end
        @run.wrong("wrk: #{$&}") if said[/^ *(Socket errors|Non-2xx).*/]
        requests, time, unit = said.match(/(\d+) requests in ([\d.]+)(m?s|m)/)&.captures
        raise "wrk failed: #{said.strip.lines.last}" unless requests
        @run.wrong("wrk had no answer") if Integer(requests).zero?
        Done.new(Integer(requests), time.to_f * UNITS.fetch(unit), *[50, 99].map { |percent| latency(said, percent) })
      end

      # Keeps connections busy for a while by HTTP/2, with several requests at once on each; or by HTTP/1.1, with one.
      # @param urls [Array<String>] of one server; each connection asks for one after the other
      # @param streams [Integer, nil] nil: HTTP/1.1
      # @param at [String, nil] where to connect, "127.0.0.1:8443", if not where the URL says
      # @param percentiles [Boolean] whether to know {Done}'s: it writes a line for each request meanwhile
      # @param headers [Hash{String => String}] of each request
      # @return [Done]
      def h2load(*urls, seconds:, connections: 64, streams: 10, at: nil, percentiles: false, headers: {})
        options = streams ? ["-m", streams.to_s] : ["--h1"]
        options += headers.flat_map { |name, value| ["-H", "#{name}: #{value}"] }
        options << "--connect-to=#{at}" if at
        said, times = with_log(percentiles) do |log|
          call("h2load", "-D", seconds.to_s, "-c", connections.to_s, *options, *log, *urls)
        end
        requests, failed, errors =
          said.match(/(\d+) succeeded, (\d+) failed, (\d+) errored/)&.captures&.map { |number| Integer(number) }
        raise "h2load failed: #{said.strip.lines.last}" unless requests
        @run.wrong("h2load: #{failed} requests failed, #{errors} had errors") if failed + errors > 0
        @run.wrong("h2load had no answer") if requests.zero?
        Done.new(requests, Float(seconds), *times)
      end

      # Sends so many requests. Where an answer takes long, its time says more than the answers that {#wrk} counts in a
      # second: those that are under way when the second ends count as none.
      # @param bytes [Integer, nil] how long each body must be; nil: as long as it likes
      # @param keep_alive [Boolean] whether connections stay; otherwise each request has a new one
      # @param post [String, nil] the body of each request, as JSON; nil: GET
      # @param headers [Hash{String => String}] of each request
      # @return [Done]
      def ab(url, requests:, connections:, bytes: nil, keep_alive: false, post: nil, headers: {})
        options = headers.flat_map { |name, value| ["-H", "#{name}: #{value}"] }
        options << "-k" if keep_alive
        options << "-l" unless bytes
        said = with_body(post) do |body|
          call("ab", "-q", "-s", "120", "-n", requests.to_s, "-c", [connections, requests].min.to_s, *options, *body,
            url)
        end
        done = Done.new(field(said, "Complete requests").to_i, field(said, "Time taken for tests").to_f,
          *[50, 99].map { |percent| said[/^ *#{percent}% +(\d+)/, 1]&.to_i })
        @run.expect(requests, done.requests, "the number of answers")
        @run.expect(0, field(said, "Failed requests").to_i + said[/^Non-2xx responses:\s+(\d+)/, 1].to_i,
          "the number of failed requests")
        @run.expect(bytes, field(said, "Document Length").to_i, "the number of bytes of an answer") if bytes
        done
      end

      # Sends requests at fixed times, each on a new connection. The time of an answer counts from the moment when its
      # request was due, also where the answer before it came late. The block runs after each request. This process
      # collects no garbage meanwhile, which would count as the server's delay.
      # @param interval [Numeric] seconds
      # @return [Array<Float>] seconds until each answer
      def paced(server, requests:, interval:, body:)
        move
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

      # Sends so many bytes of the {Pattern} as a request's body, so many times, each on a new connection.
      # @param body [String] the expected answer
      # @return [Done]
      def upload(server, path, times:, bytes:, body:)
        move
        started = Clock.now
        times.times do
          socket = TCPSocket.new("127.0.0.1", server.port)
          socket.write(
            "POST #{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: #{bytes}\r\n\r\n"
          )
          Pattern.each_block(bytes) { |block| socket.write(block) }
          head, answer = socket.read.split("\r\n\r\n", 2)
          @run.expect(["200", body], [head.to_s[%r{\AHTTP/1\.1 (\d+)}, 1], answer], "an answer's status and body")
        rescue SystemCallError => error
          @run.wrong("an upload: #{error.message}")
        ensure
          socket&.close
        end
        Done.new(times, Clock.now - started)
      end

      # @return [IdleConnections]
      def idle_connections(server, size, body:)
        move
        IdleConnections.new(@run, server.port, size, body:)
      end

      # @return [SlowReaders]
      def slow_readers(server, path, size, body:)
        move
        SlowReaders.new(@run, server.port, path, size, body:)
      end

      private

      # Moves this process to the core of the clients.
      def move
        @moved ||= Pinning.move(@run.server_core) || true
      end

      # Yields wrk's options for a script in Lua that makes these requests.
      def script(requests_per_connection, post)
        return yield [] unless requests_per_connection || post
        Tempfile.create(["pelton-lab", ".lua"]) do |file|
          if post
            file.puts(
              "wrk.method = 'POST'; wrk.headers['Content-Type'] = 'application/json'; wrk.body = [==[#{post}]==]"
            )
          end
          file.puts(<<~LUA) if requests_per_connection
            local count, keep, close = 0
            init = function() keep = wrk.format(); close = wrk.format(nil, nil, {['Connection'] = 'close'}) end
            request = function() count = count + 1; if count % #{requests_per_connection} == 0 then return close end; return keep end
          LUA
          file.flush
          yield ["-s", file.path]
        end
      end

      # Yields h2load's options for a log, or none.
      # @return [Array] the block's value, and the milliseconds in which 50 and 99 percent of the answers had come, or
      #   nil
      def with_log(wanted)
        return [yield([]), nil] unless wanted
        Dir.mktmpdir("pelton-lab") do |folder|
          said = yield ["--log-file=#{log = File.join(folder, "log")}"]
          times = File.foreach(log).map { |line| Integer(line[/\d+$/]) / 1000.0 } # start, status, microseconds
          [said, ([0.5, 0.99].map { |part| Statistics.percentile(times, part) } if times.any?)]
        end
      end

      # Yields ab's options for a body to post.
      def with_body(post)
        return yield [] unless post
        Tempfile.create(["pelton-lab", ".json"]) do |file|
          file.write(post)
          file.flush
          yield ["-p", file.path, "-T", "application/json"]
        end
      end

      # Milliseconds in which so many percent of the answers had come, as wrk says it.
      def latency(said, percent)
        time, unit = said.match(/^ *#{percent}% +([\d.]+)(us|ms|s|m) *$/).captures
        time.to_f * UNITS.fetch(unit) * 1000
      end

      # A connection is a descriptor.
      def call(*command)
        IO.popen([*Pinning.words(@run.server_core), *command, err: %i[child out],
                                                              rlimit_nofile: Process.getrlimit(:NOFILE).last], &:read)
          .scrub
      end

      def field(said, name)
        said[/^#{name}:\s+([\d.]+)/, 1] or raise "ab failed: #{said.strip.lines.last&.strip}"
      end
    end
  end
end
