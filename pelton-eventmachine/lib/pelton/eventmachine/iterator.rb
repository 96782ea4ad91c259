# frozen_string_literal: true

module EventMachine
  # Goes through a list with several items in progress at a time. The block gets the item and an object. It calls the
  # object's `next` (or, in {#map} and {#inject}, `return`) when it is done with the item.
  class Iterator
    # A Proc returns this value when there are no more items.
    Stop = "EM::Stop" # standard:disable Naming/ConstantName -- EventMachine's name

    # @return [Integer] the largest number of items in progress
    attr_reader :concurrency

    # @param list [#to_a, Proc] the items; a Proc returns one for each call, and {Stop} at the end
    # @raise [ArgumentError] for a concurrency below 1
    def initialize(list, concurrency = 1)
      raise ArgumentError, "concurrency must be bigger than zero" unless concurrency > 0
      @source = list.respond_to?(:call) ? list : items(list)
      @concurrency = concurrency
      @in_progress = 0
      @started = @ended = false
    end

    # Changes how many items may be in progress, also while it runs.
    #
    # @param concurrency [Integer]
    def concurrency=(concurrency)
      @concurrency = concurrency
      EventMachine.next_tick { fill } if @started
    end

    # @param foreach [#call] gets the item and the iterator
    # @param after [#call, nil] called when all items are done
    # @return [self]
    # @raise [RuntimeError] when it was called before
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

    # Collects the arguments of `return`, in the order of the items.
    #
    # @param after [#call] gets the Array
    def map(foreach, after)
      results = []
      count = 0
      each(lambda do |item, _|
        index = count
        count += 1
        foreach.call(item, Step.new(self, ->(result) { results[index] = result }))
      end, -> { after.call(results) })
    end

    # Passes an object from item to item.
    #
    # @param foreach [#call] gets the object, the item, and the iterator whose `return` takes the object
    # @param after [#call] gets the last object
    def inject(object, foreach, after)
      each(lambda do |item, _|
        foreach.call(object, item, Step.new(self, ->(result) { object = result }))
      end, -> { after.call(object) })
    end

    # Marks an item as done.
    def next
      EventMachine.next_tick do
        @in_progress -= 1
        fill
      end
    end

    # The object that the blocks of {#map} and {#inject} get instead of the iterator.
    class Step
      def initialize(iterator, store)
        @iterator = iterator
        @store = store
      end

      # Marks the item as done, with its result.
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
      until @ended || @in_progress >= @concurrency
        item = @source.call
        if item.equal?(Stop)
          @ended = true
        else
          @in_progress += 1
          @foreach.call(item, self)
        end
      end
      return unless @ended && @in_progress.zero?
      after, @after = @after, nil
      after&.call
    end
  end
end
