# frozen_string_literal: true

module EventMachine
  # Hands items to blocks, first come, first served, in the loop's thread. Any thread may push.
  class Queue
    def initialize
      @items = []
      @waiting = []
    end

    # Calls the block with the next item, once there is one.
    def pop(*arguments, &block)
      callable = EventMachine::Callback(*arguments, &block)
      EventMachine.schedule do
        @waiting << callable
        hand_out
      end
      nil
    end

    def push(*items)
      EventMachine.schedule do
        @items.concat(items)
        hand_out
      end
    end
    alias_method :<<, :push

    def empty? = @items.empty?

    # @return [Integer] items that nobody has taken
    def size = @items.size

    # @return [Integer] blocks that wait for one
    def num_waiting = @waiting.size

    private

    def hand_out
      @waiting.shift.call(@items.shift) until @items.empty? || @waiting.empty?
    end
  end
end
