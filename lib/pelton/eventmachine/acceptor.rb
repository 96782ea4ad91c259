# frozen_string_literal: true

module EventMachine
  # Accepts connections, and makes a {Connection} of each.
  # @private
  class Acceptor < Transport
    # @param handler [Array] class, arguments, and a block or nil
    # @yield opens the listener, and passes the block on that it is given
    # @yieldparam accept [Proc]
    # @yieldreturn [Pelton::Listener]
    def initialize(handler)
      super()
      @type, @arguments, @block = handler
      @listener = yield(method(:accept).to_proc)
    rescue
      EventMachine._unregister(self)
      raise
    end

    def close(_after_writing = false)
      return if @unbound
      @unbound = @closing = true
      EventMachine._unregister(self)
      EventMachine._on_reactor { @listener.close }
    end

    def fileno = @listener.closed? ? nil : @listener.fileno

    private

    def accept(stream)
      return stream.abort if EventMachine.stopping?
      transport = StreamTransport.new(stream)
      transport.server = true
      transport.busy_until_open { @type._bind(transport, @arguments, @block) }
    end
  end

  class StreamTransport
    # The connection is made by the block. What comes meanwhile waits until it is done.
    def busy_until_open
      @busy = true
      yield
      open
    rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
      failed(error)
    end
  end
end
