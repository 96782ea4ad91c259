# frozen_string_literal: true

module Pelton
  # Counters, each for a time, in memory that a process has in common with those that are forked from it. Counting waits
  # for nobody: no other process, no lock, no server.
  #
  #     attempts = Pelton::SharedCounters.new
  #     2.times { fork { attempts.add("ann", ttl: 60) } }
  #     Process.waitall
  #     attempts.add("ann", ttl: 60) # => 3
  #
  # Any thread may use them. A program that takes the process's place (exec) has none of them.
  class SharedCounters
    # Number of counters.
    MOST = 131_072
    MOST_ADDED = (1 << 32) - 1
    LONGEST = 1 << 39 # milliseconds
    private_constant :MOST_ADDED, :LONGEST

    @lock = Mutex.new

    class << self
      # The counters that the workers of {Cluster} have in common. In another program, or where its processes were
      # forked before the first call, they are those of this process and its children.
      #
      # @return [SharedCounters]
      def default = @lock.synchronize { @default ||= new }
    end

    # @param most [Integer] number of counters, 16 bytes each. Where there are more, one that has ended goes first, then
    #   a low one
    # @raise [ArgumentError] if it is not positive
    # @raise [NoMemoryError]
    def initialize(most: MOST)
      raise ArgumentError, "most: must be 1 or more, not #{most.inspect}" unless most.is_a?(Integer) && most.positive?
      _make(most)
    end

    # Adds to a counter, which begins anew when its time has passed.
    #
    # @param name [String]
    # @param amount [Integer] 0 or more
    # @param ttl [Numeric] seconds from the counter's beginning to its end
    # @return [Integer] the count, 16,777,215 at most
    # @raise [ArgumentError] if the amount or the time is negative
    def add(name, amount = 1, ttl:)
      raise ArgumentError, "amount must be 0 or more, not #{amount.inspect}" unless amount.is_a?(Integer) && amount >= 0
      raise ArgumentError, "ttl: must be 0 or more, not #{ttl.inspect}" unless ttl >= 0
      _add(name, [amount, MOST_ADDED].min, now, (ttl * 1000).clamp(0, LONGEST).ceil)
    end

    # @return [Integer] number of counters whose time has not passed
    def size = _live(now)

    # @!method clear
    #   Ends all counters, as between two tests.
    #   @return [nil]

    private

    # The monotonic clock counts from the system's start, for all processes.
    def now = (Clock.now * 1000).floor
  end
end
