# frozen_string_literal: true

require "pelton/clock"
require_relative "measurement"

module Pelton
  module Lab
    # The object that a contender's block receives, in the contender's process: how much there is to do, where the
    # server is, and what measures and checks.
    class Run
      # The contender's answer is wrong, so that it must not be compared.
      class WrongAnswer < StandardError; end

      # @!attribute server_core
      #   @return [Integer, nil] the core of the race's server; where the contender is a server itself, the core of its
      #     clients
      attr_reader :size, :host, :port, :server_core, :measurement

      # @param rehearsal [Boolean] the untimed round, in which more may be checked than a timed one can afford
      # @param on_start [Proc] called when measuring begins
      # @param next_round [Proc, nil] called before each round of {#measure_server}: whether to measure another one;
      #   nil: one only
      # @param on_round [Proc] called with the {Measurement} of each such round
      def initialize(size:, host: "127.0.0.1", port: nil, server_core: nil, rehearsal: false, on_start: -> {},
        next_round: nil, on_round: ->(_) {})
        @size = size
        @host = host
        @port = port
        @server_core = server_core
        @rehearsal = rehearsal
        @on_start = on_start
        @next_round = next_round
        @on_round = on_round
        @records = {}
      end

      def rehearsal?
        @rehearsal
      end

      # The server as "host:port".
      def address
        "#{host}:#{port}"
      end

      # Runs the block and measures its time, the user and system CPU time of this process, and its peak memory. Code
      # outside of the block (requiring, building data) is not timed. Once a run.
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

      # Measures a server that the contender has started, its CPU time and its memory, while the block sends it
      # requests. Records `grown_mb`, the growth of its memory since it was first measured. In a race with
      # `rounds_per_process` the block runs once for each round, and other contenders are measured in between.
      # @param server [WebServer]
      # @yieldreturn [#requests, #seconds] the work, as {WebLoad} returns it
      # @return the block's last value
      def measure_server(server)
        raise ArgumentError, "a contender measures once" if @measurement
        done = nil
        each_round do
          cost = server.cost do
            @on_start.call
            done = yield
          end
          record(:grown_mb, cost[:grown_mb])
          @measurement = Measurement.new(**cost.parts, records: @records)
        end
        done
      end

      # Compares an answer with the expected one.
      # @raise [WrongAnswer] unless they are equal
      def expect(expected, actual, what = "an answer")
        wrong("#{what} should be #{expected.inspect}, is #{actual.inspect}") unless expected == actual
      end

      # Reports a wrong answer. It counts even where a rescue swallows the error.
      # @raise [WrongAnswer]
      def wrong(message)
        @wrong_answer ||= message
        raise WrongAnswer, message
      end

      # @return [String, nil] the first wrong answer
      attr_reader :wrong_answer

      # Keeps a metric of the contender's own under a name.
      def record(name, value)
        @records[name.to_s.to_sym] = value
      end

      # The value that {#record} kept under a name, or nil.
      def [](name)
        @records[name.to_s.to_sym]
      end

      # Measures one of the race's points, inside of {#measure}: the block does `number` chains of `times` operations at
      # once, about {#size} operations in all. Records the microseconds of one operation.
      # @yieldparam times [Integer] operations of each chain, at least one
      def point(number)
        times = [size / number, 1].max
        started = Clock.now
        yield times
        record(number, (Clock.now - started) / (times * number) * 1e6)
      end

      # Resident memory now, in KB; nil where the system does not report it.
      def rss_kb
        status_kb("VmRSS")
      end

      private

      def each_round
        return yield unless @next_round
        while @next_round.call
          yield
          @on_round.call(@measurement)
        end
      end

      # Garbage from before must not be collected while measuring.
      def settle
        GC.start
      end

      def peak_rss_kb = status_kb("VmHWM")

      def status_kb(field)
        (File.read("/proc/self/status")[/^#{field}:\s+(\d+)/, 1].to_i if File.exist?("/proc/self/status"))
      end
    end
  end
end
