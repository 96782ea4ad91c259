# frozen_string_literal: true

module Pelton
  # The places in the program whose blocking calls were found to take long. A hand-over to another thread costs more
  # than most calls that may block, so a call is made in place and measured; after a long one, the next calls of its
  # place are for another thread. Then one is made in place again: twice as many follow if it is long, too. They begin
  # with one, because where the loop is busy, a call that was taken for a long one by mistake waits long for its thread.
  #
  # @private
  class SlowPlaces
    # How many calls follow the first long one, and how many at most.
    FIRST = 1
    MOST = 1024

    # After so many short calls in a row a place is forgotten.
    SHORT_CALLS = 100

    # Beyond so many, all are forgotten: programs may make code as they go.
    PLACES = 1000

    # `left`: calls that are still for another thread; `turn`: how many follow the next long call; `short`: calls in
    # place since the last long one.
    Place = Struct.new(:left, :turn, :short)
    private_constant :Place

    # After so many short calls in a row, of whatever places, all is calm.
    CALM = 1_000

    def initialize
      @places = {}
      @calm = 0
    end

    # Whether the next call of the place is for another thread. Counts it.
    # @param place [Integer]
    def slow?(place)
      return false unless (known = @places[place]) && known.left > 0
      @calm = 0
      known.left -= 1
      true
    end

    # Notes a call that was made in place.
    # @param long [Boolean] whether it has blocked the loop for long
    def made(place, long:)
      return add(place) if long
      @calm += 1
      known = @places[place]
      @places.delete(place) if known && (known.short += 1) >= SHORT_CALLS
    end

    # Whether no call was long, or for another thread, for many calls.
    def calm? = @calm >= CALM

    # Ends the calm.
    def alert = @calm = 0

    private

    def add(place)
      alert
      @places.clear if @places.size >= PLACES
      known = @places[place] ||= Place.new(0, FIRST, 0)
      known.left = known.turn
      known.turn = [known.turn * 2, MOST].min
      known.short = 0
    end
  end
  private_constant :SlowPlaces
end
