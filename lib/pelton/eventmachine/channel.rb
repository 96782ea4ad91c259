# frozen_string_literal: true

module EventMachine
  # Hands each item to all who have subscribed, in the loop's thread. Any thread may push.
  class Channel
    def initialize
      @subscribers = {}
      @names = 0
    end

    # @return [Integer] who has subscribed
    def num_subscribers = @subscribers.size

    # Calls the block with each item.
    #
    # @return [Integer] a name, for {#unsubscribe}
    def subscribe(*arguments, &block)
      callable = EventMachine::Callback(*arguments, &block)
      name = (@names += 1)
      EventMachine.schedule { @subscribers[name] = callable }
      name
    end

    def unsubscribe(name)
      EventMachine.schedule { @subscribers.delete(name) }
    end

    def push(*items)
      EventMachine.schedule do
        items.each { |item| @subscribers.values.each { |subscriber| subscriber.call(item) } }
      end
    end
    alias_method :<<, :push

    # Calls the block with the next item alone.
    def pop(*arguments, &block)
      callable = EventMachine::Callback(*arguments, &block)
      EventMachine.schedule do
        name = subscribe do |*items|
          unsubscribe(name)
          callable.call(*items)
        end
      end
    end
  end
end
