# frozen_string_literal: true

module Pelton
  # The places in the program whose blocking calls were found to take long. A hand-over to another thread costs more than
  # most calls that may block, so a call is made in place and measured; after a long one, the next calls of its place are for another
  # thread. Then one is made in place again: twice as many follow if it is long, too.
  #
  # @private
  class SlowPlaces
    # How many calls follow the first long one, and how many at most.
    FIRST = 16
    MOST = 1024

    # After so many short calls in a row a place is forgotten.
    SHORT_CALLS = 100

    # Beyond so many, all are forgotten: programs may make code as they go.
    PLACES = 1000

    # `left`: calls that are still for another thread, of `turn`; `short`: calls in place since the last long one.
    Place = Struct.new(:left, :turn, :short)
    private_constant :Place

    # @return [Numeric] seconds from which on a call is long
    attr_accessor :long

    def initialize(long: 0.001)
      @long = long
      @places = {}
    end

    # Whether the next call of the place is for another thread. Counts it.
    # @param place [Integer]
    def slow?(place)
      return false unless (known = @places[place]) && known.left > 0
      known.left -= 1
      true
    end

    # Measures the block, which blocks in place.
    # @return the block's value
    def measure(place)
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      yield
    ensure
      if Process.clock_gettime(Process::CLOCK_MONOTONIC) - start >= @long
        add(place)
      elsif (known = @places[place])
        @places.delete(place) if (known.short += 1) >= SHORT_CALLS
      end
    end

    private

    def add(place)
      @places.clear if @places.size >= PLACES
      known = @places[place] ||= Place.new(0, FIRST / 2, 0)
      known.turn = [known.turn * 2, MOST].min
      known.left = known.turn
      known.short = 0
    end
  end
end
