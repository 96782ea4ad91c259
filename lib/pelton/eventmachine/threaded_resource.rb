# frozen_string_literal: true

module EventMachine
  # An object that is used in one thread alone, its own: a database handle, say.
  class ThreadedResource
    # The block makes the object, in the thread.
    def initialize
      @queue = Thread::Queue.new
      @thread = Thread.new do
        resource = yield
        while (work, completion = @queue.pop)
          use(resource, work, completion)
        end
      end
      @thread.name = "EM::ThreadedResource"
    end

    # Calls the block with the object, in its thread.
    #
    # @return [Completion] of the block's value or error
    def dispatch(&block)
      Completion.new.tap { |completion| @queue << [block, completion] }
    end

    # Ends the thread.
    #
    # @return [Thread]
    def shutdown
      @queue.clear
      @thread.kill
      @thread.join
    end

    private

    def use(resource, work, completion)
      completion.succeed(work.call(resource))
    rescue Exception => error # standard:disable Lint/RescueException -- whoever dispatched it hears of it
      completion.fail(error)
    end
  end
end
