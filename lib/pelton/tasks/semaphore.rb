# frozen_string_literal: true

module Pelton
  # A number of permits, to limit how many tasks do something at a time. A task that finds none waits; permits are given
  # in the order in which tasks asked.
  #
  #     connections = Pelton::Semaphore.new(5)
  #     connections.acquire { fetch(url) }
  #
  # Fibers of several reactors, and threads without one, may share it.
  class Semaphore
    # @param permits [Integer] 1 or more
    # @raise [ArgumentError] for anything else
    def initialize(permits)
      raise ArgumentError, "a semaphore has 1 permit or more" unless permits.is_a?(Integer) && permits >= 1
      @permits = @available = permits
      @waiting = {}.compare_by_identity # an Operation for each, in the order in which they asked
      @mutex = Mutex.new
    end

    # @return [Integer] free permits
    attr_reader :available

    # @return [Integer] fibers and threads that wait for a permit
    def waiting = @waiting.size

    # Takes a permit, and waits while there is none. With a block, gives the permit back when the block ends.
    #
    # @param timeout [Numeric, nil] seconds to wait
    # @return the block's value; self without a block
    # @raise [TimeoutError] when no permit came free in time
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

    # Takes a permit if one is free. Never waits.
    #
    # @return [Boolean] whether it has taken one
    def try_acquire = @mutex.synchronize { @available.positive? && !!(@available -= 1) }

    # Gives a permit back, to the fiber or thread that has waited longest. Any fiber and any thread may call it.
    #
    # @return [self]
    # @raise [Error] when no permit is taken
    def release
      @mutex.synchronize do
        waiter, = @waiting.shift
        next waiter.succeed if waiter
        raise Error, "release: no permit is taken" if @available == @permits
        @available += 1
      end
      self
    end

    private

    def wait(timeout)
      waiter = served = nil
      @mutex.synchronize do
        return if @available.positive? && (@available -= 1) # it came free meanwhile
        @waiting[waiter = Operation.new] = true
      end
      waiter.await(timeout: timeout)
      served = true
    ensure # a wait that ends early, for whatever reason, keeps no permit
      release if waiter && !served && !@mutex.synchronize { @waiting.delete(waiter) }
    end
  end
end
