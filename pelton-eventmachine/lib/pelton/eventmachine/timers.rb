# frozen_string_literal: true

# Timers. Their number is limited by {EventMachine.set_max_timers} alone.
module EventMachine
  class << self
    # Calls the block once, after the interval. Any thread may call this.
    #
    # @param interval [Numeric] seconds
    # @return [Integer] the timer's signature, for {cancel_timer}
    # @raise [RuntimeError] outside {run}, and beyond the limit of {set_max_timers}
    def add_timer(interval = 0, callable = nil, &block)
      callable ||= block
      return unless callable
      raise "eventmachine not initialized: evma_install_oneshot_timer" unless @reactor_running
      raise "max timers exceeded" if @timers.size >= @max_timers
      return arm_from_outside(interval, callable) unless @reactor_thread.equal?(Thread.current)
      @timers[signature = (@signatures += 1)] = callable
      @timer_table.add(signature, interval.is_a?(Numeric) ? interval : interval.to_f) unless @over
      signature
    end

    # Calls the block again and again, each time after the interval.
    #
    # @param interval [Numeric] seconds
    # @return [PeriodicTimer]
    def add_periodic_timer(interval = 0, callable = nil, &block)
      callable ||= block
      PeriodicTimer.new(interval, callable) if callable
    end

    # Cancels a timer. Does nothing when it has fired already.
    #
    # @param timer [Integer, Timer, PeriodicTimer]
    def cancel_timer(timer)
      return timer.cancel unless timer.is_a?(Integer) || !timer.respond_to?(:cancel)
      return unless @timers.delete(timer)
      @reactor_thread.equal?(Thread.current) ? @timer_table.cancel(timer) : _on_reactor { @timer_table&.cancel(timer) }
      nil
    end

    # @return [Integer] the largest number of timers
    def get_max_timers = @max_timers
    alias_method :get_max_timer_count, :get_max_timers

    # @raise [RuntimeError] inside {run}
    def set_max_timers(count)
      raise "eventmachine already initialized: evma_set_max_timer_count" if reactor_running?
      @max_timers = Integer(count)
    end
    alias_method :set_max_timer_count, :set_max_timers

    # @return [Integer] the number of pending timers
    def get_timer_count = @timers.size

    # @return [Time] now
    def current_time = Time.now

    # Does nothing. In EventMachine it sets the milliseconds between two checks of the timers; here the loop sleeps
    # until the next timer is due.
    def set_quantum(milliseconds) = milliseconds
    alias_method :set_timer_quantum, :set_quantum

    # @private
    def _arm(interval, callable, signature = (@signatures += 1))
      @timers[signature] = callable
      @timer_table.add(signature, interval.to_f)
      signature
    end

    private

    def arm_from_outside(interval, callable)
      signature = (@signatures += 1)
      @timers[signature] = callable
      @reactor.enqueue(-> { _arm(interval, callable, signature) if @timers.key?(signature) && !@over })
      signature
    end

    def cancel_all_timers
      @timers.clear
      @timer_table&.clear
    end
  end

  # A timer that calls a block once.
  class Timer
    # @param interval [Numeric] seconds
    def initialize(interval, callable = nil, &block)
      @signature = EventMachine.add_timer(interval, callable || block)
    end

    # Cancels the timer, unless its block was called.
    def cancel = EventMachine.cancel_timer(@signature)
  end

  # A timer that calls a block again and again.
  class PeriodicTimer
    # @return [Numeric] seconds; a new value is used after the next call
    attr_accessor :interval

    def initialize(interval, callable = nil, &block)
      @interval = interval
      @code = callable || block
      @cancelled = false
      @work = method(:fire)
      schedule
    end

    # Cancels the timer: its block is not called again.
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
