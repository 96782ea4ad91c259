# frozen_string_literal: true

module Pelton
  # The loop of a thread: descriptors, timers, and the fibers and callbacks that wait for them. Most programs use it
  # through Pelton's own methods.
  class Reactor
    # @!method self.current
    #   @return [Reactor] this thread's, made when there is none

    # @!method self.running?
    #   @return [Boolean] whether this thread is inside {Pelton.run}

    # Runs the loop. See {Pelton.run}.
    def run(grace: 5, carry_locals: false, &block)
      raise ArgumentError, "run needs a block" unless block
      _run(grace, carry_locals, block)
    end

    # @!method yield
    #   Lets the loop run once, and all fibers that are ready go first.
    #   @return [nil]
    #   @asynchronous

    # @!method raise_in(fiber, exception, message = nil, backtrace = nil)
    #   As `Fiber#raise`, for a fiber that is parked in this reactor.
    #   @return [Boolean] false, and nothing is raised, when the fiber is not parked here

    # @!method on_fatal
    #   For servers, which must outlive the code of one request: the block gets the exceptions that would end the
    #   present {#run}. These are what another thread raises in this one (`Thread#raise`) while no code of the program
    #   runs, and what a callback or a task raises that is no StandardError. Not SystemExit, signals and `throw`; nor
    #   what the block of {#run} raises. An error of this block ends run.
    #   @yieldparam exception [Exception]
    #   @return [self]
    #   @raise [NotRunningError]

    # @!method retain
    #   Keeps {Pelton.run} going until {#release}, for something outside of the reactor that will come back to it, such
    #   as a thread.
    #   @return [nil]

    # @!method release
    #   Takes one {#retain} back. Any thread may call it.
    #   @return [nil]

    # @!method stats
    #   @return [Hash{Symbol => Object}] as {Pelton.stats} has them, without the pools of threads

    # @!method tasks
    #   As {Pelton.tasks}. Any thread may call it.
    #   @return [Array<Task>]

    # @!method parked
    #   What waits, and where: each has a `backtrace`.
    #   @return [Array<Fiber>]

    # Ends {#run}. Any thread may call it.
    def stop(value = nil) = _stop(value)

    # Calls the block in the next tick. Any thread may call it. Between two runs the block waits for the next one.
    #
    # @raise [ClosedError] when the reactor's thread has ended
    def next_tick(&block)
      raise ArgumentError, "next_tick needs a block" unless block
      enqueue(block)
    end
    alias_method :schedule, :next_tick

    # @!method with_clean_locals
    #   Calls the block with an empty set of fiber-locals (`Thread.current[:name]`), and puts the present ones back. For
    #   servers: a request sees nothing of the one before it on the same fiber, and leaves nothing behind.
    #   @return the block's value
  end
end
