# frozen_string_literal: true

module EventMachine
  # Calls a block each time that a descriptor of the program can be read or written. Each event is waited for
  # separately, because the program may close the descriptor without notice. While the block waits, it is not called
  # again.
  # @private
  class Readiness
    READABLE = IO::READABLE
    WRITABLE = IO::WRITABLE

    # @param io [IO]
    # @param broken [#call] called when the descriptor has been closed
    # @yieldparam events [Integer] READABLE, WRITABLE or both
    def initialize(io, broken: nil, &ready)
      @io = io
      @ready = ready
      @broken = broken
      @wanted = 0
      @calling = false
    end

    attr_reader :wanted

    # Waits for these events from now on; 0 stops waiting.
    def wanted=(events)
      return if events == @wanted
      @wanted = events
      cancel
      wait unless @calling || events.zero?
    end

    private

    def cancel
      @waiting = nil
      @task&.cancel
      @task = nil
    end

    # The block is called in a tick, not in the task: so it runs in the same surroundings as other callbacks.
    def wait
      round = @waiting = Object.new
      @task = ::Pelton.spawn(detached: true) do
        events = ::Pelton::Reactor.current.io_wait(@io, @wanted, nil)
        EventMachine.next_tick { notify(events) if round.equal?(@waiting) }
      rescue IOError, SystemCallError
        EventMachine.next_tick { @broken&.call if round.equal?(@waiting) }
      end
    end

    def notify(events)
      @task = nil
      @calling = true
      @ready.call(events & @wanted) unless @io.closed? || events.nil? || (events & @wanted).zero?
    ensure
      @calling = false
      if @io.closed? then @broken&.call
      elsif !@wanted.zero? then wait
      end
    end
  end
end
