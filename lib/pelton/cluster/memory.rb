# frozen_string_literal: true

require "etc"

module Pelton
  module Cluster
    # The memory of the workers, and which of them has too much. No worker is found before it has lived for a time, and
    # of an index none until that time has passed since the last one. Where the next one is found soon as well, the
    # limit is too low for the program: then the time doubles, up to an hour.
    class Memory
      LONGEST = 3600 # seconds
      PAGE = Etc.sysconf(Etc::SC_PAGESIZE)
      private_constant :LONGEST, :PAGE

      # The resident set of a process: what it shares with others, such as what was preloaded, counts in full.
      #
      # @param pid [Integer]
      # @return [Integer, nil] bytes; nil: the process has ended
      def self.of(pid)
        return Integer(File.read("/proc/#{pid}/statm").split[1]) * PAGE if File.exist?("/proc/self/statm")
        IO.popen(["ps", "-o", "rss=", "-p", pid.to_s], &:read)[/\d+/]&.then { |kilobytes| kilobytes.to_i * 1024 }
      rescue SystemCallError
        nil
      end

      # @return [Hash{Integer => Integer}] how many workers were found, by their index
      attr_reader :counts

      # @param limit [Numeric] bytes
      # @param after [Numeric] seconds
      def initialize(limit, after)
        @limit = limit
        @counts = Hash.new(0)
        @after = after
        @pauses = Hash.new(after) # by the workers' index
        @not_before = Hash.new(0.0)
      end

      # Finds a worker to replace, and begins the pause for its index.
      #
      # @param workers [Array<Worker>]
      # @return [Array(Worker, Integer), nil] the worker, and its bytes
      def beyond_limit(workers)
        return if @limit == Float::INFINITY
        now = Clock.now
        workers.each do |worker|
          index = worker.index
          next if now < [worker.started + @pauses[index], @not_before[index]].max
          bytes = Memory.of(worker.pid)
          next unless bytes && bytes > @limit
          @pauses[index] = (now - worker.started < 2 * @pauses[index]) ? [@pauses[index] * 2, LONGEST].min : @after
          @not_before[index] = now + @pauses[index]
          @counts[index] += 1
          return [worker, bytes]
        end
        nil
      end
    end
  end
end
