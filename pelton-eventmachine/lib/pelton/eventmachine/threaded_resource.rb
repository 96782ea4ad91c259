# frozen_string_literal: true

module EventMachine
  # An object that is used on one thread only, such as a database handle.
  class ThreadedResource
    # Starts the thread, which calls the block to make the object.
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

    # Calls the block with the object, on its thread.
    #
    # @return [Completion] succeeds with the block's value, or fails with its error
    def dispatch(&block) = Completion.new.tap { |completion| @queue << [block, completion] }

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
    rescue Exception => error # standard:disable Lint/RescueException -- the completion fails with it
      completion.fail(error)
    end
  end
end
