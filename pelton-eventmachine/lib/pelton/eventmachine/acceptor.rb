# frozen_string_literal: true

module EventMachine
  # Accepts connections, and makes a {Connection} for each.
  # @private
  class Acceptor < Transport
    # @param handler [Array] class, arguments, and a block or nil
    # @param shared [Boolean] whether the program keeps the listening socket, and so the connections in its backlog
    # @yield opens the listener, with the block as the handler of its connections
    # @yieldparam accept [Proc]
    # @yieldreturn [Pelton::Listener]
    def initialize(handler, shared: false)
      super()
      @type, @arguments, @block = handler
      @shared = shared
      @listener = yield(method(:accept).to_proc)
    rescue
      EventMachine._unregister(self)
      raise
    end

    # The clients in the backlog have connected already, so they are accepted first. The acceptor is counted as open
    # until their connections are.
    def close(_after_writing)
      return if @unbound
      @unbound = @closing = true
      EventMachine._on_reactor do
        @shared ? @listener.close : @listener.finish
        @listener.pending.zero? ? EventMachine._unregister(self) : EventMachine.next_tick do
          EventMachine._unregister(self)
        end
      end
    end

    def abandon
      @listener.close
      EventMachine._unregister(self)
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
    # Makes the connection by the block. Data that arrives meanwhile is delivered after the block.
    def busy_until_open
      @busy = true
      yield
      open
    rescue Exception => error # standard:disable Lint/RescueException -- a callback may raise anything
      failed(error)
    end
  end
end
