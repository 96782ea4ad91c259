# frozen_string_literal: true

# Run and stop. The loop is Pelton's: it calls callbacks directly on its own fiber, and they may wait.
module EventMachine
  @reactor_running = false
  @stopping = false
  @over = true
  @tails = []
  @early = []
  @timers = {}
  @transports = {}
  @acceptors = {} # by signature; thin reads the variable by this name
  @signatures = 0
  @max_timers = 100_000

  class << self
    # Runs the loop until {stop}. Inside a running loop it only calls the block.
    #
    # @param block [#call] called first
    # @param tail [#call] a shutdown hook
    # @raise the error of a callback, unless there is an {error_handler}
    # @asynchronous
    def run(block = nil, tail = nil, &given)
      block ||= given
      @tails.unshift(tail) if tail
      return block&.call if reactor_running?
      begin_run
      begin
        run_loop(@block = block)
      rescue Exception => error # standard:disable Lint/RescueException -- it is raised after the cleanup
        @fatal ||= error
      ensure
        end_run
      end
      depart
    end

    # Runs the loop for the block alone: {run}, and {stop} after the block.
    #
    # @asynchronous
    def run_block(&block)
      run do
        block.call
        stop
      end
    end

    # Ends {run} at the end of this loop iteration: first the shutdown hooks are called, then all connections are closed
    # and notified by unbind. Callbacks that still wait are cancelled.
    #
    # @raise [RuntimeError] outside run
    def stop
      raise "eventmachine not initialized: evma_stop_machine" unless reactor_running?
      return if @stopping
      @stopping = true
      leave = -> { end_loop }
      # When a timer's block stops the loop, the ticks of that iteration still run.
      @reactor.enqueue(in_timer? ? -> { @reactor.enqueue(leave) } : leave)
    end

    # As {stop}.
    def stop_event_loop = stop

    # @return [Boolean] whether {run} is under way, in this process
    def reactor_running? = @reactor_running && @reactor_pid == Process.pid

    # @return [Boolean] whether {stop} was called and {run} has not returned yet
    def stopping? = @stopping

    # @return [Thread, nil] the thread that runs the loop; nil outside {run}
    attr_reader :reactor_thread

    # @return [Boolean] whether the caller is on that thread
    def reactor_thread? = Thread.current == @reactor_thread

    # Registers a block that is called when the loop ends, before connections are closed. The last block is called
    # first.
    def add_shutdown_hook(&block) = @tails << block

    # Sets the handler that is called with each StandardError of a callback; without a block removes it. Without a
    # handler such an error ends {run}, which raises it.
    def error_handler(callable = nil, &block)
      @error_handler = callable || block
    end

    # Forks a child with a new loop, without the parent's timers and connections.
    #
    # @return [Integer] the child's pid
    def fork_reactor(&block)
      Kernel.fork do
        forget_loop
        run(block)
      end
    end

    # Handles an error of a callback.
    #
    # @param callable [Proc, nil] the callback
    # @private
    def _failed(error, callable = nil)
      raise error if error.is_a?(::Pelton::Cancelled)
      if @error_handler && error.is_a?(StandardError) && !jump?(error)
        begin
          return @error_handler.call(error)
        rescue Exception => error # standard:disable Lint/RescueException -- run raises it
        end
      end
      unless @fatal
        @fatal = error
        @fatal_callable = callable
      end
      @stopping = true
      end_loop
    end

    # Calls the block on the loop's thread, and returns its value. For another thread that is after the earlier requests
    # of that thread.
    # @private
    def _on_reactor
      return yield if @reactor_thread == Thread.current || !reactor_running?
      answer = Thread::Queue.new
      _behind_input(lambda do
        answer << [yield, nil]
      rescue Exception => error # standard:disable Lint/RescueException -- the caller raises it
        answer << [nil, error]
      end)
      value, error = answer.pop
      raise error if error
      value
    end

    private

    def in_timer? = reactor_thread? && @timer_table.firing?

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

    # In a child after a fork: forgets the parent's loop.
    def forget_loop
      @reactor_running = false
      @reactor = nil
      @tails = []
      @early = []
      @timers = {}
      @timer_table = nil
      @transports = {}
      @acceptors = {}
      @threadpool = @threadqueue = nil
    end

    def run_loop(block)
      if ::Pelton.running? # inside Pelton.run, which goes on after this loop
        @finished = ::Pelton::Operation.new
        begin_loop(block)
        @finished.await
      else
        ::Pelton::Watchdog.quietly do
          ::Pelton.run(carry_locals: true) do
            begin_loop(block)
            nil
          end
        end
      end
    end

    def begin_loop(block)
      @reactor.retain
      @held = true
      @timer_table = ::Pelton::TimerTable.new(@timers, self)
      # In a timer, because ticks come before the timers that the block adds.
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
      @reactor.enqueue(-> { @finished ? @finished.succeed : @reactor.stop })
    end

    def run_shutdown_hooks
      until @tails.empty?
        begin
          @tails.pop.call
        rescue Exception => error # standard:disable Lint/RescueException -- an error does not keep the other hooks from being called
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
      @reactor = @reactor_thread = @timer_table = nil
      cleanup_machine
    end

    # Leaves {run} as the callback did that ended the loop: raises, throws or returns.
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

    # `return` leaves the method around the block. That method is on this stack, though not on the callback's.
    def jump(error, callable)
      return error.exit_value if error.reason == :break && callable.equal?(@block)
      raise error unless error.reason == :return && callable.is_a?(Proc)
      frame = callable.binding
      frame.local_variable_set(:pelton_value, error.exit_value)
      frame.eval("return pelton_value")
    end
  end

  ::Pelton.register_upcalls(timer_failed: singleton_class.instance_method(:_failed))
end
