# frozen_string_literal: true

# Threads for what would block the loop.
module EventMachine
  @threadpool_size = 20

  class << self
    # @return [Integer] how many threads {defer} may have; a new value holds for the next pool
    attr_accessor :threadpool_size

    # @return [Array<Thread>, nil] the threads, once there are some
    attr_reader :threadpool

    # Runs the operation in a thread, then the callback in the loop, with its value. An error goes to the errback; without
    # one it is the loop's, like any callback's.
    def defer(operation = nil, callback = nil, errback = nil, &block)
      spawn_threadpool unless @threadpool
      @deferred += 1
      @threadqueue << [operation || block, callback, errback]
      nil
    end

    # Whether nothing is left that {defer} was given.
    def defers_finished? = !@threadpool || @deferred.zero?

    # @private
    def spawn_threadpool
      @deferred ||= 0
      @threadqueue = Thread::Queue.new
      @threadpool = Array.new(@threadpool_size) do
        Thread.new(@threadqueue) { |queue| work(queue) }.tap { |thread| thread.name = "EM.defer" }
      end
    end

    # @private
    def cleanup_machine
      @threadpool&.each { |thread| thread.kill }
      @threadpool = @threadqueue = nil
      @deferred = 0
    end

    private

    def work(queue)
      while (operation, callback, errback = queue.pop)
        begin
          value = operation.call
          answer = callback && -> { callback.call(value) }
        rescue Exception => error # standard:disable Lint/RescueException -- the loop's thread is to hear of it
          answer = deferred_error(error, errback)
        end
        give_back(answer)
      end
    end

    def deferred_error(error, errback) = errback ? -> { errback.call(error) } : -> { raise error }

    def give_back(answer)
      return unless reactor_running?
      next_tick do
        @deferred -= 1
        answer&.call
      end
    end
  end
end
