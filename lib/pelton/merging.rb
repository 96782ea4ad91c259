# frozen_string_literal: true

require_relative "../pelton"
require_relative "merging/batch"

module Pelton
  # Merges finds by key that different fibers call in the same iteration of the loop into one query. The first find
  # yields once to fibers that are ready; if none of them joins, it is made alone. No find waits for anything else.
  #
  # For gems that have models, such as pelton-sequel and pelton-rails: each has one object, which says what a {Batch} is
  # there.
  #
  # @api private
  class Merging
    # @param name [Symbol] of the thread-local that has the batches: the reactor, and model => place => Batch
    # @yieldparam model [Class]
    # @yieldparam place [Object] what finds must have in common besides the model, such as the column
    # @yieldparam key [Object] the first find's
    # @yieldreturn [Batch]
    def initialize(name, &make)
      @name = name
      @make = make
      @apart = {}.compare_by_identity # fibers in {without}
    end

    # Whether the finds of this fiber may be merged now.
    def possible? = Reactor.running? && (@apart.empty? || !@apart.key?(Fiber.current))

    # Calls the block without merging this fiber's finds.
    #
    # @return the block's value
    def without
      fiber = Fiber.current
      before = @apart.key?(fiber)
      @apart[fiber] = true
      yield
    ensure
      @apart.delete(fiber) unless before
    end

    # @yieldreturn the answer of a find that no other joins
    # @return that answer, or the batch's
    # @asynchronous
    def find(model, place, key)
      reactor = Reactor.current
      together = (batches(reactor)[model] ||= {})
      batch = together[place]
      return batch.join(key) if batch
      batch = together[place] = @make.call(model, place, key)
      begin
        reactor.yield
      ensure
        together.delete(place)
        batch.start unless batch.alone?
      end
      batch.alone? ? yield : batch.wait(key)
    end

    private

    # A child after a fork has a reactor of its own: the parent's fibers never go on in it.
    def batches(reactor)
      of, batches = Thread.current.thread_variable_get(@name)
      return batches if reactor.equal?(of)
      {}.compare_by_identity.tap { |made| Thread.current.thread_variable_set(@name, [reactor, made]) }
    end
  end
end
