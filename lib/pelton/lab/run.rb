# frozen_string_literal: true

require_relative "measurement"

module Pelton
  module Lab
    # What a contender's block is given, in its own process: how much to do, where the server is, and a clock.
    class Run
      # The contender answered wrongly: it must not be compared.
      class WrongAnswer < StandardError; end

      attr_reader :size, :host, :port, :measurement

      # @param rehearsal [Boolean] the untimed round, in which more may be checked than a timed one can afford
      # @param on_start [Proc] called when measuring begins
      def initialize(size:, host: "127.0.0.1", port: nil, rehearsal: false, on_start: -> {})
        @size = size
        @host = host
        @port = port
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
        started = monotonic
        value = yield
        real = monotonic - started
        after = Process.times
        @measurement = Measurement.new(user: after.utime - before.utime, system: after.stime - before.stime,
          real:, operations:, rss_kb: peak_rss_kb, records: @records)
        value
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
        @records[name.to_sym] = value
      end

      # Seconds on a clock that nobody sets.
      def monotonic
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
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
