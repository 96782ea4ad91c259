# frozen_string_literal: true

module EventMachine
  # Goes through a list with several items under way at a time. A block is given the item and an object whose `next` (or,
  # of {#map} and {#inject}, `return`) says that it is done with the item.
  class Iterator
    # What a Proc returns when there is nothing more.
    Stop = "EM::Stop" # standard:disable Naming/ConstantName -- as it is called there

    # @return [Integer] items under way at most
    attr_reader :concurrency

    # @param list [#to_a, Proc] items; a Proc gives one a call, and Stop at the end
    def initialize(list, concurrency = 1)
      raise ArgumentError, "concurrency must be bigger than zero" unless concurrency > 0
      @source = list.respond_to?(:call) ? list : items(list)
      @concurrency = concurrency
      @under_way = 0
      @started = @ended = false
    end

    def concurrency=(concurrency)
      @concurrency = concurrency
      EventMachine.next_tick { fill } if @started
    end

    # @param foreach [#call] gets the item and the iterator
    # @param after [#call, nil] called when all are done
    # @return [self]
    def each(foreach = nil, after = nil, &block)
      foreach ||= block
      raise ArgumentError, "proc or block required for iteration" unless foreach
      raise "cannot iterate over an iterator more than once" if @started
      @started = true
      @foreach = foreach
      @after = after
      EventMachine.next_tick { fill }
      self
    end

    # Collects what `return` is given, in the order of the items.
    #
    # @param after [#call] gets the Array
    def map(foreach, after)
      results = []
      count = 0
      each(lambda do |item, _|
        place = count
        count += 1
        foreach.call(item, Step.new(self, ->(result) { results[place] = result }))
      end, -> { after.call(results) })
    end

    # Passes an object from item to item.
    #
    # @param foreach [#call] gets the object, the item, and the iterator whose `return` takes the object
    # @param after [#call] gets the object at last
    def inject(object, foreach, after)
      each(lambda do |item, _|
        foreach.call(object, item, Step.new(self, ->(result) { object = result }))
      end, -> { after.call(object) })
    end

    # An item is done.
    def next
      EventMachine.next_tick do
        @under_way -= 1
        fill
      end
    end

    # The iterator as the blocks of {#map} and {#inject} see it.
    class Step
      def initialize(iterator, store)
        @iterator = iterator
        @store = store
      end

      # The item is done, and this is what came of it.
      def return(result)
        @store.call(result)
        @iterator.next
      end

      def next = @iterator.next
    end
    private_constant :Step

    private

    def items(list)
      left = list.to_a.dup
      -> { left.empty? ? Stop : left.shift }
    end

    def fill
      until @ended || @under_way >= @concurrency
        item = @source.call
        if item.equal?(Stop)
          @ended = true
        else
          @under_way += 1
          @foreach.call(item, self)
        end
      end
      return unless @ended && @under_way.zero?
      after, @after = @after, nil
      after&.call
    end
  end
end
