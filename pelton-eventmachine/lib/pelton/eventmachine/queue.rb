# frozen_string_literal: true

module EventMachine
  # Passes items to blocks, first come, first served, on the loop's thread. Any thread may push.
  class Queue
    def initialize
      @items = []
      @waiting = []
    end

    # Calls the block with the next item, as soon as there is one.
    def pop(*arguments, &block)
      callable = EventMachine::Callback(*arguments, &block)
      EventMachine.schedule do
        @waiting << callable
        deliver
      end
      nil
    end

    # Adds the items, in the next iteration of the loop.
    def push(*items)
      EventMachine.schedule do
        @items.concat(items)
        deliver
      end
    end
    alias_method :<<, :push

    def empty? = @items.empty?

    # @return [Integer] the number of items in the queue
    def size = @items.size

    # @return [Integer] the number of blocks that wait for an item
    def num_waiting = @waiting.size

    private

    def deliver
      @waiting.shift.call(@items.shift) until @items.empty? || @waiting.empty?
    end
  end
end
