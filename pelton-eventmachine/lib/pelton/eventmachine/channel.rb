# frozen_string_literal: true

module EventMachine
  # Passes each item to all subscribers, on the loop's thread. Any thread may push.
  class Channel
    def initialize
      @subscribers = {}
      @names = 0
    end

    # @return [Integer] the number of subscribers
    def num_subscribers = @subscribers.size

    # Calls the block with each item that is pushed from now on.
    #
    # @return [Integer] the subscription's number, for {#unsubscribe}
    def subscribe(*arguments, &block)
      callable = EventMachine::Callback(*arguments, &block)
      name = (@names += 1)
      EventMachine.schedule { @subscribers[name] = callable }
      name
    end

    # Ends a subscription.
    #
    # @param name [Integer] the subscription's number, from {#subscribe}
    def unsubscribe(name) = EventMachine.schedule { @subscribers.delete(name) }

    # Passes the items to all subscribers, one after the other, in the next iteration of the loop.
    def push(*items)
      EventMachine.schedule do
        items.each { |item| @subscribers.values.each { |subscriber| subscriber.call(item) } }
      end
    end
    alias_method :<<, :push

    # Calls the block once, with the next item.
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
