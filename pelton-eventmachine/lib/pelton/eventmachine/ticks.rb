# frozen_string_literal: true

# Callbacks in the next loop iteration.
module EventMachine
  class << self
    # Calls the block in the next loop iteration, after the timers that are due. Any thread may call this, also before
    # {run}.
    def next_tick(callable = nil, &block)
      callable ||= block
      raise ArgumentError, "no proc or block given" unless callable.respond_to?(:call)
      if !@reactor_running then @early << callable
      elsif @reactor_thread == Thread.current then tick(callable)
      else _behind_input(tick_of(callable))
      end
      nil
    rescue ::Pelton::ClosedError # a child after a fork, before it runs its own loop
      @early << callable
      nil
    end

    # Calls the block: at once on the loop's thread, from another thread in the next loop iteration.
    def schedule(*arguments, &block)
      callable = Callback(*arguments, &block)
      (reactor_running? && reactor_thread?) ? callable.call : next_tick(callable)
    end

    # Calls the block once in each loop iteration, until it returns :stop.
    #
    # @return [TickLoop]
    def tick_loop(*arguments, &block) = TickLoop.new(*arguments, &block).start

    # Runs the callable on the loop's thread, after all input that has arrived by now. A single job would run before the
    # events of the next poll. The first job runs after that poll, the second one after listeners have accepted, and the
    # callable after the handlers of the accepted connections. Any thread may call this.
    # @private
    def _behind_input(callable)
      reactor = @reactor
      reactor.enqueue(-> { reactor.enqueue(-> { reactor.enqueue(callable) }) })
    end

    # Calls the block: at once on the loop's thread; for another thread later, after the earlier requests of that
    # thread.
    # @private
    def _in_loop(&block)
      return yield if @reactor_thread == Thread.current || !reactor_running?
      next_tick(block)
    end

    private

    def tick(callable) = @reactor.enqueue(tick_of(callable))

    def tick_of(callable)
      lambda do
        callable.call unless @over
      rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
        _failed(error, callable)
      end
    end
  end

  # Calls a block once in each loop iteration.
  class TickLoop
    def initialize(*arguments, &block)
      @work = EventMachine::Callback(*arguments, &block)
      @stops = []
      @stopped = true
    end

    # @return [self]
    # @raise [ArgumentError] when it runs already
    def start
      raise ArgumentError, "double start" unless @stopped
      @stopped = false
      schedule
      self
    end

    # Calls the block when the loop stops; at once when it has stopped already.
    def on_stop(*arguments, &block)
      if @stopped
        EventMachine::Callback(*arguments, &block).call
      else
        @stops << EventMachine::Callback(*arguments, &block)
      end
    end

    # Stops the loop, and calls the blocks of {#on_stop}.
    def stop
      @stopped = true
      @stops.shift.call until @stops.empty?
    end

    def stopped? = @stopped

    private

    def schedule
      EventMachine.next_tick do
        next if @stopped
        (@work.call == :stop) ? stop : schedule
      end
      self
    end
  end
end
