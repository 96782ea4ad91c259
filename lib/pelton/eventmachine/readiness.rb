# frozen_string_literal: true

module EventMachine
  # Tells again and again when a descriptor that is not the loop's own can be read or written. Each time is waited for
  # anew, because such descriptors come and go without notice. While the block waits nothing more is told.
  # @private
  class Readiness
    READABLE = IO::READABLE
    WRITABLE = IO::WRITABLE

    # @param io [IO]
    # @param broken [#call] called when the descriptor was closed
    # @yieldparam events [Integer] READABLE, WRITABLE or both
    def initialize(io, broken: nil, &ready)
      @io = io
      @ready = ready
      @broken = broken
      @wanted = 0
      @telling = false
    end

    attr_reader :wanted

    # Waits for these events from now on; 0: for none.
    def wanted=(events)
      return if events == @wanted
      @wanted = events
      cancel
      wait unless @telling || events.zero?
    end

    private

    def cancel
      @waiting = nil
      @task&.cancel
      @task = nil
    end

    # The block is called in a tick, not in the task: it sees what other callbacks see.
    def wait
      round = @waiting = Object.new
      @task = ::Pelton.spawn do
        events = ::Pelton::Reactor.current.io_wait(@io, @wanted, nil)
        EventMachine.next_tick { tell(events) if round.equal?(@waiting) }
      rescue IOError, SystemCallError
        EventMachine.next_tick { @broken&.call if round.equal?(@waiting) }
      end
    end

    def tell(events)
      @task = nil
      @telling = true
      return @broken&.call if @io.closed?
      @ready.call(events & @wanted) if events && !(events & @wanted).zero?
    ensure
      @telling = false
      wait unless @wanted.zero? || @io.closed?
    end
  end
end
