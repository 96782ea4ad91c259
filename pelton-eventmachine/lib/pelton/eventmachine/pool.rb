# frozen_string_literal: true

module EventMachine
  # A pool of resources, of which each is used by one block at a time. The block gets a resource and returns a
  # Deferrable; when that is settled, the resource is free for the next block.
  class Pool
    def initialize
      @resources = Queue.new
      @contents = []
      @removed = []
      @on_error = nil
    end

    # Adds a resource, which is free at once.
    def add(resource)
      @contents << resource
      requeue(resource)
    end

    # Removes a resource. A block that uses it keeps it until it is done.
    def remove(resource)
      @contents.delete(resource)
      @removed << resource
    end

    # @return [Array] a copy
    def contents = @contents.dup

    # Calls the block with a resource whose Deferrable failed, instead of returning the resource to the pool.
    def on_error(*arguments, &block)
      @on_error = EventMachine::Callback(*arguments, &block)
    end

    # Calls the block with a resource, as soon as one is free.
    #
    # @yieldreturn [Deferrable]
    def perform(*arguments, &block)
      work = EventMachine::Callback(*arguments, &block)
      @resources.pop do |resource|
        if removed?(resource)
          @removed.delete(resource)
          reschedule(work)
        else
          process(work, resource)
        end
      end
    end
    alias_method :reschedule, :perform

    # @return [Integer] the number of blocks that wait for a resource
    def num_waiting = @resources.num_waiting

    def removed?(resource) = @removed.include?(resource)

    protected

    def requeue(resource) = @resources.push(resource)

    def process(work, resource)
      deferrable = work.call(resource)
      raise ArgumentError, "deferrable expected from work" unless deferrable.is_a?(Deferrable)
      completion(deferrable, resource)
    rescue Exception # standard:disable Lint/RescueException -- it is raised again
      failure(resource)
      raise
    end

    def completion(deferrable, resource)
      deferrable.callback { requeue(resource) }
      deferrable.errback { failure(resource) }
    end

    def failure(resource)
      return requeue(resource) unless @on_error
      @contents.delete(resource)
      @on_error.call(resource)
      @removed.delete(resource)
    end
  end

  # An older name.
  Deferrable::Pool = Pool
end
