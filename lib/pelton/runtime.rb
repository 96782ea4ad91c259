# frozen_string_literal: true

# The runtime's own methods, on the reactor of the calling thread.
module Pelton
  class << self
    # Runs a reactor on this thread until nothing is left to do, or until {stop}.
    #
    # The block is the first task. Inside it, a call that waits parks its fiber and never the thread. Meanwhile the
    # reactor is the thread's fiber scheduler. Inside a running reactor, `run` just calls the block.
    #
    # @param grace [Numeric] seconds that `ensure` blocks of cancelled tasks may take once the reactor stops
    # @param carry_locals [Boolean] whether all callbacks share the caller's fiber-locals (`Thread.current[:name]`), as
    #   if they ran on one fiber; it is for programs that rely on that. Otherwise callbacks run on pooled fibers, and
    #   one may find values that another has left. Tasks have fiber-locals of their own in either case
    # @return the block's value, or the value given to {stop}
    # @raise the error that the block raises; Interrupt and SignalException after the reactor has stopped
    # @raise [ArgumentError] without a block
    # @raise [Error] when nothing is left to do and the block has not ended, because its fiber has switched away for
    #   good: by `Fiber#raise` in a fiber that waits (use {Reactor#raise_in}), or by `Fiber#transfer`
    # @asynchronous inside a running reactor, if the block is
    def run(grace: 5, carry_locals: false, &block)
      Reactor.current.run(grace: grace, carry_locals: carry_locals, &block)
    end

    # Ends {run} on this thread: listeners close, parked fibers are cancelled, and their `ensure` blocks run. Does
    # nothing where no reactor runs. For the reactor of another thread there is {Reactor#stop}.
    #
    # @param value the value that {run} returns
    # @return [nil]
    def stop(value = nil) = Reactor.current.stop(value)

    # @return [Boolean] whether a reactor runs on this thread
    def running? = Reactor.running?

    # Starts a task. Its block runs in this tick, as soon as the caller waits or returns.
    #
    # The error of a task that was never awaited goes to {on_error} when the task's object is collected or the run
    # ends, whichever comes first.
    #
    # @param name [#to_s, nil] for {tasks} and {Task#inspect}
    # @param transient [Boolean] whether the task does not keep {run} going: it is cancelled when nothing but transient
    #   tasks is left
    # @param detached [Boolean] whether the task will never be awaited: then its error goes to {on_error} at once
    # @return [Task]
    # @raise [NotRunningError] where no reactor runs on this thread
    # @raise [ArgumentError] without a block
    def spawn(name: nil, transient: false, detached: false, &block)
      raise ArgumentError, "spawn needs a block" unless block
      return Task.spawn(&block) unless name || transient || detached
      Task._spawn(block, transient, detached).tap { |task| task._name = name if name }
    end

    # The tasks of this thread's reactor that have not ended: first those that have begun, in any order, then those that
    # are queued. For the reactor of another thread there is {Reactor#tasks}.
    #
    # @return [Array<Task>]
    def tasks = Reactor.current.tasks

    # Calls the block in the next tick of this thread's reactor. For the reactor of another thread there is
    # {Reactor#next_tick}.
    #
    # @return [nil]
    # @raise [NotRunningError] where no reactor runs on this thread
    # @raise [ArgumentError] without a block
    def next_tick(&block) = Reactor.require_running("Pelton.next_tick").next_tick(&block)

    # @!method add_timer(seconds)
    #   Calls the block once. The block may wait. A timer keeps {run} going until it has fired or is cancelled.
    #   @param seconds [Numeric] from now; 0 or less: as soon as possible, but never inside the call
    #   @return [Timer]
    #   @raise [NotRunningError] where no reactor runs on this thread
    #   @raise [ArgumentError] without a block

    # @!method add_periodic_timer(seconds)
    #   Calls the block again and again. The timer does not drift, and when the loop was late it fires once for all the
    #   times that it missed. A block that waits does not delay the next call. A periodic timer does not keep {run}
    #   going.
    #   @param seconds [Numeric] from one call to the next
    #   @return [Timer]
    #   @raise [NotRunningError] where no reactor runs on this thread
    #   @raise [ArgumentError] without a block

    # Sets the block that is called with each unhandled error: of a callback, or of a task that is not awaited
    # ({spawn}). Without one, the error is logged with its backtrace: see {logger}. An error that the block raises ends
    # {run}. Without a block the setting is removed.
    #
    # @yieldparam error [StandardError]
    # @return [Proc, nil] the block that was set before
    def on_error(&block) = @on_error.tap { @on_error = block }

    # @private
    # @param origin [String, nil] what has failed, for the log: "GET /path"
    def report_error(error, origin = nil)
      return @on_error.call(error) if @on_error
      text = error.backtrace&.any? ? error.full_message(highlight: false) : "#{error.message} (#{error.class})"
      logger.error("#{"#{origin}: " if origin}unhandled error\n#{text}")
    end

    # Counters of this thread's reactor.
    #
    # - counted since it was made: `iterations` of the loop, `switches` between fibers, `stalls`; and `busy`, `idle` and
    #   `longest_stall` in seconds, the first two inside {run} alone
    # - now: fibers and callbacks that are `ready`, fibers that are `parked`, `workers` (the fibers that it keeps),
    #   `timers`, `connections`, and `descriptors`, connections among them
    # - `backend`: how it waits, :epoll or :poll
    # - `offload` and `resolver`: the two pools of threads ({Offload#stats})
    #
    # @return [Hash{Symbol => Object}]
    def stats = Reactor.current.stats.merge(offload: Offload::POOL.stats, resolver: Resolver::POOL.stats)
  end

  register_upcalls(report_error: method(:report_error))
end
