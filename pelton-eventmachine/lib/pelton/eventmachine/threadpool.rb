# frozen_string_literal: true

# Threads for work that would block the loop.
module EventMachine
  @threadpool_size = 20

  class << self
    # @return [Integer] the largest number of {defer}'s threads
    attr_accessor :threadpool_size

    # @return [Array<Thread>, nil] the threads, which are started one by one, when there is work for them; nil before
    #   the first {defer}
    attr_reader :threadpool

    # Runs the operation in a thread, and then the callback in the loop, with the operation's value. An error of the
    # operation goes to the errback; without an errback it is handled like an error of a callback.
    def defer(operation = nil, callback = nil, errback = nil, &block)
      spawn_threadpool unless @threadpool
      @deferred += 1
      @threadqueue << [operation || block, callback, errback]
      add_thread if @threadqueue.size > @threadqueue.num_waiting && @threadpool.size < @threadpool_size
      nil
    end

    # @return [Boolean] whether all operations given to {defer} have ended, and their callbacks have been called
    def defers_finished? = !@threadpool || @deferred.zero?

    # @private
    def spawn_threadpool
      @deferred ||= 0
      @threadqueue = Thread::Queue.new
      @threadpool = []
    end

    # @private
    def cleanup_machine
      @threadpool&.each { |thread| thread.kill }
      @threadpool = @threadqueue = nil
      @deferred = 0
    end

    private

    # Starts one more thread, when no thread is idle. Idle threads take turns, and a thread that has not run for a while
    # is slower, so there are no more threads than necessary.
    def add_thread
      @threadpool << Thread.new(@threadqueue) { |queue| work(queue) }.tap { |thread| thread.name = "EM.defer" }
    end

    def work(queue)
      while (operation, callback, errback = queue.pop)
        begin
          value = operation.call
          answer = callback && -> { callback.call(value) }
        rescue Exception => error # standard:disable Lint/RescueException -- it is raised on the loop's thread
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
