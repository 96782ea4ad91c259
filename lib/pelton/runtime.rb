# frozen_string_literal: true

# The runtime's own methods, on the reactor of the calling thread.
module Pelton
  class << self
    # Turns a reactor on this thread until nothing is left to do, or until {stop}.
    #
    # The block is the first task. Inside, waiting parks a fiber and never the thread. The thread's fiber scheduler is
    # Pelton's while this runs.
    #
    # @param grace [Numeric] seconds that `ensure` blocks of cancelled tasks may take once the reactor stops
    # @param carry_locals [Boolean] whether all callbacks see the same fiber-locals (`Thread.current[:name]`), the caller's
    #   among them, as if they ran on one fiber. It is for programs that rely on that. Otherwise a callback may find what
    #   another one has left on the same fiber, or nothing. Tasks have their own in either case
    # @return the block's value, or what {stop} was given
    # @raise whatever the block raises; Interrupt and SignalException after the reactor has stopped
    # @asynchronous inside a running reactor: there it runs the block and nothing else
    def run(grace: 5, carry_locals: false, &block)
      Reactor.current.run(grace: grace, carry_locals: carry_locals, &block)
    end

    # Ends {run} on this thread: listeners close, what is parked is cancelled, `ensure` blocks run.
    def stop(value = nil) = Reactor.current.stop(value)

    # Whether a reactor runs on this thread.
    def running? = Reactor.running?

    # Starts a task: its block runs in this tick, as soon as the caller waits or returns.
    #
    # @return [Task]
    # @raise [NotRunningError] outside {run}
    def spawn(&block)
      raise ArgumentError, "spawn needs a block" unless block
      Task.spawn(&block)
    end

    # Calls the block in the next tick.
    def next_tick(&block) = Reactor.current.next_tick(&block)

    # @!method add_timer(seconds)
    #   Calls the block once, after some seconds.
    #   @return [Timer]
    #   @raise [NotRunningError] outside {run}

    # @!method add_periodic_timer(seconds)
    #   Calls the block again and again, every so many seconds. It does not keep {run} going.
    #   @return [Timer]
    #   @raise [NotRunningError] outside {run}

    # Sets what is called with an error that nobody rescued: of a callback, or of a task that nobody awaits. The default
    # logs it with its backtrace: see {logger}. An error raised by the block ends {run}.
    #
    # @return [Proc, nil] the block that was set before
    def on_error(&block)
      @on_error.tap { @on_error = block }
    end

    # @private
    # @param place [String, nil] what has failed, for the log
    def report_error(error, place = nil)
      return @on_error.call(error) if @on_error
      text = error.backtrace&.any? ? error.full_message(highlight: false) : "#{error.message} (#{error.class})"
      logger.error("#{"#{place}: " if place}nobody rescued this error\n#{text}")
    end

    # @private
    def report_given_up(count)
      logger.error("#{count} fiber(s) still waited when the time to stop was over (run's grace:), and will never go on")
    end

    # What the reactor of this thread has done and holds.
    #
    # - counted since it was made: `turns` of the loop, `switches` between fibers, `stalls`; and `busy`, `idle` and
    #   `longest_stall` in seconds, the first two inside {run} alone
    # - now: what is `ready`, fibers that are `parked`, `workers` (the fibers it keeps), `timers`, `connections`, and all
    #   `descriptors` with them
    # - `offload` and `resolver`: the two pools of threads ({Offload#stats})
    #
    # @return [Hash{Symbol => Object}]
    def stats = Reactor.current.stats.merge(offload: Offload::POOL.stats, resolver: Resolver::POOL.stats)
  end
end
