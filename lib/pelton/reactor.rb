# frozen_string_literal: true

module Pelton
  # The loop of a thread: descriptors, timers, and the fibers and callbacks that wait for them. Most programs use it
  # through Pelton's own methods.
  class Reactor
    # Turns the loop. See {Pelton.run}.
    def run(grace: 5, carry_locals: false, &block)
      raise ArgumentError, "run needs a block" unless block
      _run(grace, carry_locals, block)
    end

    # @!method parked
    #   What waits, and where: each has a `backtrace`.
    #   @return [Array<Fiber>]

    # Ends {#run}. Any thread may call it.
    def stop(value = nil) = _stop(value)

    # Calls the block in the next tick. Any thread may call it.
    def next_tick(&block)
      raise ArgumentError, "next_tick needs a block" unless block
      _next_tick(block)
    end
    alias_method :schedule, :next_tick

    # @!method with_clean_locals
    #   Calls the block with an empty set of fiber-locals (`Thread.current[:name]`), and puts the present ones back. For
    #   servers: a request sees nothing of the one before it on the same fiber, and leaves nothing behind.
    #   @return the block's value
  end
end
