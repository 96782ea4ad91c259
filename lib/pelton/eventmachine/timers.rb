# frozen_string_literal: true

# Timers. There may be as many as memory holds; the limit is only told.
module EventMachine
  class << self
    # Calls the block once, after so many seconds.
    #
    # @return [Integer] its signature, for {cancel_timer}
    # @raise [RuntimeError] outside {run}; beyond the limit of {set_max_timers}
    def add_timer(interval = 0, callable = nil, &block)
      callable ||= block
      return unless callable
      raise "eventmachine not initialized: evma_install_oneshot_timer" unless @reactor_running
      raise "max timers exceeded" if @timers.size >= @max_timers
      return arm_from_outside(interval, callable) unless @reactor_thread.equal?(Thread.current)
      @timers[signature = (@signatures += 1)] = callable
      @alarms._add(signature, interval.is_a?(Numeric) ? interval : interval.to_f) unless @over
      signature
    end

    # Calls the block every so many seconds.
    #
    # @return [PeriodicTimer]
    def add_periodic_timer(interval = 0, callable = nil, &block)
      callable ||= block
      PeriodicTimer.new(interval, callable) if callable
    end

    # @param timer [Integer, Timer, PeriodicTimer] also one that has fired
    def cancel_timer(timer)
      return timer.cancel unless timer.is_a?(Integer) || !timer.respond_to?(:cancel)
      return unless @timers.delete(timer)
      @reactor_thread.equal?(Thread.current) ? @alarms._cancel(timer) : _on_reactor { @alarms&._cancel(timer) }
      nil
    end

    # @return [Integer] how many timers there may be
    def get_max_timers = @max_timers
    alias_method :get_max_timer_count, :get_max_timers

    # @raise [RuntimeError] inside {run}
    def set_max_timers(count)
      raise "eventmachine already initialized: evma_set_max_timer_count" if reactor_running?
      @max_timers = Integer(count)
    end
    alias_method :set_max_timer_count, :set_max_timers

    # @return [Integer] timers that are armed
    def get_timer_count = @timers.size

    # @return [Time] now
    def current_time = Time.now

    # Milliseconds between looks at the timers, once. Here the loop sleeps until the next one.
    def set_quantum(milliseconds) = milliseconds
    alias_method :set_timer_quantum, :set_quantum

    # @private
    def _arm(interval, callable, signature = (@signatures += 1))
      @timers[signature] = callable
      @alarms._add(signature, interval.to_f)
      signature
    end

    private

    def arm_from_outside(interval, callable)
      signature = (@signatures += 1)
      @timers[signature] = callable
      @reactor._next_tick(-> { _arm(interval, callable, signature) if @timers.key?(signature) && !@over })
      signature
    end

    def cancel_all_timers
      @timers.clear
      @alarms&._clear
    end
  end

  # A block that is called once.
  class Timer
    # @param interval [Numeric] seconds
    def initialize(interval, callable = nil, &block)
      @signature = EventMachine.add_timer(interval, callable || block)
    end

    def cancel = EventMachine.cancel_timer(@signature)
  end

  # A block that is called again and again.
  class PeriodicTimer
    # @return [Numeric] seconds; a new value holds after the next call
    attr_accessor :interval

    def initialize(interval, callable = nil, &block)
      @interval = interval
      @code = callable || block
      @cancelled = false
      @work = method(:fire)
      schedule
    end

    def cancel
      EventMachine.cancel_timer(@signature)
      @cancelled = true
    end

    # @private
    def schedule
      @signature = EventMachine.add_timer(@interval, @work)
    end

    # @private
    def fire
      @code.call
      schedule unless @cancelled
    end
  end
end
