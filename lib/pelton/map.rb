# frozen_string_literal: true

module Pelton
  class << self
    # Calls the block with each element, several at a time, and returns the values in the order of the list.
    #
    # The first error cancels the other calls; once they have ended, it is raised. Each call runs in a task, with fiber-locals
    # of its own. Where no reactor runs, one is run for the call.
    #
    # @param list [Enumerable]
    # @param limit [Integer, nil] how many calls go on at a time; nil: all
    # @return [Array]
    # @raise what the block raises first
    # @asynchronous
    def map(list, limit: 20, &block)
      raise ArgumentError, "map needs a block" unless block
      raise ArgumentError, "limit is 1 or more, or nil" if limit && !(limit.is_a?(Integer) && limit >= 1)
      return run { map(list, limit: limit, &block) } unless running?
      items = list.to_a
      Map.new(items, block).call([limit || items.size, items.size].min)
    end
  end

  # One call of Pelton.map.
  class Map
    def initialize(items, block)
      @items = items
      @block = block
      @results = Array.new(items.size)
      @next = 0
    end

    def call(workers)
      tasks = Array.new(workers) { Pelton.spawn { work } }
      Deferrable.all(tasks).await
      @results
    ensure
      tasks&.each(&:cancel)
      tasks&.each { |task| wait(task) unless task.done? }
    end

    private

    def work
      while (index = @next) < @items.size
        @next += 1
        @results[index] = @block.call(@items[index])
      end
    end

    # However it ends: the first error is on its way already.
    def wait(task)
      ended = Operation.new
      task.callback { ended.succeed }.errback { ended.succeed }
      ended.await
    end
  end
  private_constant :Map
end
