# frozen_string_literal: true

module Pelton
  class << self
    # Calls the block with each element, several at a time, and returns the values in the order of the list.
    #
    # The first error cancels the other calls, and is raised when they have ended ({group}). The calls run in tasks,
    # with fiber-locals of their own. Where no reactor runs, `map` runs one.
    #
    # @param list [Enumerable]
    # @param concurrency [Integer, nil] how many calls run at a time; nil: all
    # @yieldparam element
    # @return [Array]
    # @raise the first error that the block raises; it has the errors of the other calls ({Suppressed})
    # @raise [ArgumentError] without a block, and for a `concurrency:` below 1
    # @asynchronous
    def map(list, concurrency: 20)
      raise ArgumentError, "map needs a block" unless block_given?
      if concurrency && !(concurrency.is_a?(Integer) && concurrency >= 1)
        raise ArgumentError, "concurrency is 1 or more, or nil"
      end
      items = list.to_a
      values = Array.new(items.size)
      started = 0
      group(discard: true) do |group|
        [concurrency || items.size, items.size].min.times do
          group.spawn do
            while (index = started) < items.size
              started += 1
              values[index] = yield(items[index])
            end
          end
        end
      end
      values
    end
  end
end
