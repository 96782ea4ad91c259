# frozen_string_literal: true

# Callbacks in the loop's next turn.
module EventMachine
  class << self
    # Calls the block in the next turn, after the timers that are due. Any thread may call it, also before {run}.
    def next_tick(callable = nil, &block)
      callable ||= block
      raise ArgumentError, "no proc or block given" unless callable.respond_to?(:call)
      if !@reactor_running then @early << callable
      elsif @reactor_thread == Thread.current then tick(callable)
      else tick(-> { tick(callable) }) # what a thread asks for is done in a turn of its own, not in the present one
      end
      nil
    end

    # Calls the block: at once on the loop's thread, otherwise in its next turn.
    def schedule(*arguments, &block)
      callable = Callback(*arguments, &block)
      (reactor_running? && reactor_thread?) ? callable.call : next_tick(callable)
    end

    # Calls the block once a turn, until it returns :stop.
    #
    # @return [TickLoop]
    def tick_loop(*arguments, &block) = TickLoop.new(*arguments, &block).start

    private

    def tick(callable)
      @reactor._next_tick(lambda do
        callable.call unless @over
      rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
        _failed(error, callable)
      end)
    rescue ::Pelton::ClosedError # a child after a fork, before it runs a loop of its own
      @early << callable
    end
  end

  # A block that is called once a turn of the loop.
  class TickLoop
    def initialize(*arguments, &block)
      @work = EventMachine::Callback(*arguments, &block)
      @stops = []
      @stopped = true
    end

    # @return [self]
    # @raise [ArgumentError] when it is going
    def start
      raise ArgumentError, "double start" unless @stopped
      @stopped = false
      schedule
      self
    end

    # Has the block called when it stops; at once when it has stopped.
    def on_stop(*arguments, &block)
      if @stopped
        EventMachine::Callback(*arguments, &block).call
      else
        @stops << EventMachine::Callback(*arguments, &block)
      end
    end

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
