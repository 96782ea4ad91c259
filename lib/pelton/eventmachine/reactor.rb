# frozen_string_literal: true

# Run and stop. The loop is Pelton's: callbacks run straight on the fiber that turns it, and may wait.
module EventMachine
  @reactor_running = false
  @stopping = false
  @over = true
  @tails = []
  @early = []
  @timers = {}
  @transports = {}
  @acceptors = {} # by signature, and of this name: thin looks into it
  @signatures = 0
  @max_timers = 100_000

  class << self
    # Turns the loop until {stop}. Inside a running loop it calls the block and nothing else.
    #
    # @param block [#call] what to begin with
    # @param tail [#call] a shutdown hook
    # @raise whatever a callback raises, unless there is an {error_handler}
    # @asynchronous
    def run(block = nil, tail = nil, &given)
      block ||= given
      @tails.unshift(tail) if tail
      return block&.call if reactor_running?
      begin_run
      begin
        turn(@block = block)
      rescue Exception => error # standard:disable Lint/RescueException -- it is raised when all is cleared away
        @fatal ||= error
      ensure
        end_run
      end
      depart
    end

    # {run}, and {stop} after the block.
    #
    # @asynchronous
    def run_block(&block)
      run do
        block.call
        stop
      end
    end

    # Ends {run} when this turn of the loop is over: first shutdown hooks are called, then all connections are closed, and
    # told by unbind. Callbacks that still wait are cancelled.
    #
    # @raise [RuntimeError] outside run
    def stop
      raise "eventmachine not initialized: evma_stop_machine" unless reactor_running?
      return if @stopping
      @stopping = true
      leave = -> { end_loop }
      # Ticks of the turn in which a timer stops are still its own.
      @reactor._next_tick(in_timer? ? -> { @reactor._next_tick(leave) } : leave)
    end

    def stop_event_loop = stop

    # Whether {run} is under way, in this process.
    def reactor_running? = @reactor_running && @reactor_pid == Process.pid

    # Whether {stop} was called.
    def stopping? = @stopping

    # @return [Thread] the one that {run} was called on last
    attr_reader :reactor_thread

    # Whether this is it.
    def reactor_thread? = Thread.current == @reactor_thread

    # Has the block called when the loop ends, before connections are closed. The last one given is called first.
    def add_shutdown_hook(&block)
      @tails << block
    end

    # Sets what is called with errors (StandardError) that callbacks raise; without a block takes it away. Otherwise such an
    # error ends {run}, which raises it.
    def error_handler(callable = nil, &block)
      @error_handler = callable || block
    end

    # Forks a child that runs a loop of its own, which has nothing of the parent's.
    #
    # @return [Integer] the child's pid
    def fork_reactor(&block)
      Kernel.fork do
        forget_loop
        run(block)
      end
    end

    # @private -- An error that a callback raised.
    # @param callable [Proc, nil] the callback
    def _failed(error, callable = nil)
      raise error if error.is_a?(::Pelton::Cancelled)
      if @error_handler && error.is_a?(StandardError) && !jump?(error)
        begin
          return @error_handler.call(error)
        rescue Exception => error # standard:disable Lint/RescueException -- so it leaves run
        end
      end
      unless @fatal
        @fatal = error
        @fatal_callable = callable
      end
      @stopping = true
      end_loop
    end

    # @private -- Calls the block in the loop's thread, and returns its value.
    def _on_reactor
      return yield if @reactor_thread == Thread.current || !reactor_running?
      answer = Thread::Queue.new
      @reactor._next_tick(lambda do
        answer << [yield, nil]
      rescue Exception => error # standard:disable Lint/RescueException -- it is the caller's
        answer << [nil, error]
      end)
      value, error = answer.pop
      raise error if error
      value
    end

    private

    def in_timer? = reactor_thread? && @alarms._ringing?

    def jump?(error) = error.is_a?(LocalJumpError) || error.is_a?(UncaughtThrowError)

    def begin_run
      forget_loop if @reactor_pid && @reactor_pid != Process.pid
      @reactor = ::Pelton::Reactor.current
      @reactor_pid = Process.pid
      @reactor_thread = Thread.current
      @over = @stopping = false
      @fatal = @fatal_callable = @finished = nil
      @reactor_running = true
    end

    # The parent's loop, in a child.
    def forget_loop
      @reactor_running = false
      @reactor = nil
      @tails = []
      @early = []
      @timers = {}
      @alarms = nil
      @transports = {}
      @acceptors = {}
      @threadpool = @threadqueue = nil
    end

    def turn(block)
      if ::Pelton.running? # in Pelton.run, which goes on when this is over
        @finished = ::Pelton::Operation.new
        begin_loop(block)
        @finished.await
      else
        ::Pelton.run(carry_locals: true) do
          begin_loop(block)
          nil
        end
      end
    end

    def begin_loop(block)
      @reactor.hold
      @held = true
      @alarms = ::Pelton::Alarms.new(@timers, self)
      # In a timer, because ticks come before the timers that it arms.
      _arm(0, block) if block
      early, @early = @early, []
      early.each { |callable| tick(callable) }
    end

    def end_loop
      return if @over
      run_shutdown_hooks
      @over = true
      cancel_all_timers
      @transports.values.each(&:abandon)
      @reactor._next_tick(-> { @finished ? @finished.succeed : @reactor.stop })
    end

    def run_shutdown_hooks
      until @tails.empty?
        begin
          @tails.pop.call
        rescue Exception => error # standard:disable Lint/RescueException -- the other hooks are called as well
          @fatal ||= error
        end
      end
    end

    def end_run
      run_shutdown_hooks
      cancel_all_timers
      @reactor.release if @held
      @held = false
      @over = true
      @reactor_running = @stopping = false
      @transports = {}
      @acceptors = {}
      @reactor = @reactor_thread = @alarms = nil
      cleanup_machine
    end

    # Raises, throws or returns as the callback did that ended the loop.
    def depart
      fatal = @fatal
      callable = @fatal_callable
      @fatal = @fatal_callable = nil
      case fatal
      when nil then nil
      when UncaughtThrowError then throw fatal.tag, fatal.value
      when LocalJumpError then jump(fatal, callable)
      else raise fatal
      end
    end

    # `return` leaves the method that the block stands in: it is on this stack, though not on the callback's.
    def jump(error, callable)
      return error.exit_value if error.reason == :break && callable.equal?(@block)
      raise error unless error.reason == :return && callable.is_a?(Proc)
      frame = callable.binding
      frame.local_variable_set(:pelton_value, error.exit_value)
      frame.eval("return pelton_value")
    end
  end
end
