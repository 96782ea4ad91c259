# frozen_string_literal: true

module EventMachine
  # A descriptor that the program reads and writes. The loop only watches it.
  # @private
  class WatchTransport < Transport
    # @param io [IO, #fileno]
    def initialize(io)
      super()
      @number = io.fileno
      @readiness = Readiness.new(watched(io), broken: -> { leave }) { |events| call_notify(events) }
    end

    def notify?(mode) = !(@readiness.wanted & mode).zero?

    def notify(mode, whether)
      return if @unbound || @closing
      return EventMachine._on_reactor { notify(mode, whether) } unless EventMachine.reactor_thread?
      wanted = @readiness.wanted
      @readiness.wanted = whether ? wanted | mode : wanted & ~mode
    end

    def send_data(_data) = raise("cannot send data on a 'watch only' connection")

    # Stops watching. The descriptor belongs to the program, and stays open.
    def close(_after_writing) = leave

    def detach
      leave
      @number
    end

    def fileno = @number

    def abandon
      @readiness.wanted = 0
      unbind
    end

    private

    # An IO without autoclose, such as pg's socket_io, may be closed while its descriptor stays open.
    def watched(io) = (io.is_a?(IO) && io.autoclose?) ? io : IO.for_fd(@number, autoclose: false)

    def call_notify(events)
      busy do
        @connection.notify_readable unless (events & Readiness::READABLE).zero?
        @connection.notify_writable unless (events & Readiness::WRITABLE).zero? || !notify?(Readiness::WRITABLE)
      end
    end

    def leave
      return if @unbound || @closing
      @closing = :now
      @readiness.wanted = 0
      EventMachine.next_tick { unbind }
    end
  end
end
