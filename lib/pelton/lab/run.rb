# frozen_string_literal: true

require "json"
require_relative "../clock"
require_relative "measurement"

module Pelton
  module Lab
    # What a contender's block is given, in its own process: how much to do, and where the server is.
    class Run
      # The contender answered wrongly: it must not be compared.
      class WrongAnswer < StandardError; end

      # @!attribute server_core
      #   @return [Integer, nil] the core of the race's server; where the contender is a server itself, what asks it belongs there
      attr_reader :size, :host, :port, :server_core, :measurement

      # @param rehearsal [Boolean] the untimed round, in which more may be checked than a timed one can afford
      # @param on_start [Proc] called when measuring begins
      def initialize(size:, host: "127.0.0.1", port: nil, server_core: nil, rehearsal: false, on_start: -> {})
        @size = size
        @host = host
        @port = port
        @server_core = server_core
        @rehearsal = rehearsal
        @on_start = on_start
        @records = {}
      end

      def rehearsal?
        @rehearsal
      end

      # The server as "host:port".
      def address
        "#{host}:#{port}"
      end

      # Runs the block and takes its time, user and system CPU time of this process, and its peak memory. What stands
      # outside of it (requiring, building data) is not timed. Once a run.
      # @param operations [Integer] how many operations the block does
      # @return the block's value
      def measure(operations = size)
        raise ArgumentError, "a contender measures once" if @measurement
        settle
        @on_start.call
        before = Process.times
        started = Clock.now
        value = yield
        real = Clock.now - started
        after = Process.times
        @measurement = Measurement.new(user: after.utime - before.utime, system: after.stime - before.stime,
          real:, operations:, rss_kb: peak_rss_kb, records: @records)
        value
      end

      # Runs another program, which measures itself: the last line that it prints is JSON with `real`, `user` and `system`
      # (seconds), `rss_kb`, and whatever else it has to say.
      # @param command [Array<String>]
      # @return [Hash{Symbol => Object}] that line
      def measure_program(*command, operations: size)
        raise ArgumentError, "a contender measures once" if @measurement
        @on_start.call
        text = IO.popen(command, err: %i[child out], &:read)
        raise "#{command.first} failed: #{text.scrub.lines.last&.strip}" unless $?.success?
        said = JSON.parse(text.lines.last, symbolize_names: true)
        @measurement = Measurement.new(**said.slice(:user, :system, :real, :rss_kb), operations:, records: @records)
        said
      end

      # Measures a server that the contender has started: its CPU time and its memory, while the block asks it. Records
      # `grown_mb`, how far its memory's peak is above what it had before.
      # @param server [WebServer]
      # @yieldreturn [#requests, #seconds] what was done, as {WebLoad} says it
      def measure_server(server)
        raise ArgumentError, "a contender measures once" if @measurement
        done = nil
        cost = server.cost do
          @on_start.call
          done = yield
        end
        record(:grown_mb, cost[:grown_mb])
        @measurement = Measurement.new(**cost.parts, records: @records)
        done
      end

      # Compares what came with what should have come.
      # @raise [WrongAnswer] unless they are equal
      def expect(expected, actual, what = "an answer")
        wrong("#{what} should be #{expected.inspect}, is #{actual.inspect}") unless expected == actual
      end

      # Says that an answer is wrong. It counts even where the error that it raises is swallowed.
      # @raise [WrongAnswer]
      def wrong(message)
        @wrong_answer ||= message
        raise WrongAnswer, message
      end

      # @return [String, nil] the first wrong answer
      attr_reader :wrong_answer

      # Keeps a figure of the contender's own, to be compared by its name.
      def record(name, value)
        @records[name.to_s.to_sym] = value
      end

      # A figure that was kept.
      def [](name)
        @records[name.to_s.to_sym]
      end

      # Measures one of the race's points, inside of {#measure}: the block does `number` chains of operations at once, each as
      # long as it is told, about {#size} operations in all. Keeps the microseconds that one of them took.
      # @yieldparam times [Integer] operations of each chain, at least one
      def point(number)
        times = [size / number, 1].max
        started = Clock.now
        yield times
        record(number, (Clock.now - started) / (times * number) * 1e6)
      end

      # Resident memory now, in KB; nil where the system does not tell.
      def rss_kb
        status_kb("VmRSS")
      end

      private

      # So that nobody pays for what was left before.
      def settle
        GC.start
      end

      def peak_rss_kb
        status_kb("VmHWM")
      end

      def status_kb(field)
        File.read("/proc/self/status")[/^#{field}:\s+(\d+)/, 1].to_i
      rescue Errno::ENOENT
        nil
      end
    end
  end
end
