# frozen_string_literal: true

module Pelton
  # A number of permits, for bounding how much happens at a time. Who finds none waits, and is served in its turn: the first
  # to come is the first to get one.
  #
  #     connections = Pelton::Semaphore.new(5)
  #     connections.acquire { fetch(url) }
  #
  # Fibers of one reactor and of several, and threads without one, may share it.
  class Semaphore
    # @param permits [Integer] 1 or more
    # @raise [ArgumentError]
    def initialize(permits)
      raise ArgumentError, "a semaphore has 1 permit or more" unless permits.is_a?(Integer) && permits >= 1
      @permits = @available = permits
      @waiting = {}.compare_by_identity # in their order; an Operation for each
      @mutex = Mutex.new
    end

    # @return [Integer] permits that can be had at once
    attr_reader :available

    # @return [Integer] how many wait
    def waiting = @waiting.size

    # Takes a permit, and waits for it if there is none. With a block, gives it back when the block ends.
    #
    # @param timeout [Numeric, nil] seconds to wait
    # @return the block's value, or self
    # @raise [TimeoutError] when none came free in time
    # @asynchronous
    def acquire(timeout: nil)
      wait(timeout) unless try_acquire
      return self unless block_given?
      begin
        yield
      ensure
        release
      end
    end

    # Takes a permit if there is one.
    #
    # @return [Boolean]
    def try_acquire
      @mutex.synchronize { @available.positive? && !!(@available -= 1) }
    end

    # Gives a permit back: to the one who waits longest. Any fiber and any thread may call it.
    #
    # @raise [Error] when none is taken
    def release
      @mutex.synchronize do
        waiter, = @waiting.shift
        next waiter.succeed if waiter
        raise Error, "a permit was given back that nobody took" if @available == @permits
        @available += 1
      end
      self
    end

    private

    def wait(timeout)
      waiter = served = nil
      @mutex.synchronize do
        return if @available.positive? && (@available -= 1) # come free meanwhile
        @waiting[waiter = Operation.new] = true
      end
      waiter.await(timeout: timeout)
      served = true
    ensure # who gives up, for whatever reason, leaves no permit behind
      release if waiter && !served && !@mutex.synchronize { @waiting.delete(waiter) }
    end
  end
end
