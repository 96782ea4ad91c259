# frozen_string_literal: true

# Proxying: one connection sends the bytes that another receives.
module EventMachine
  class << self
    # Makes `to` send the bytes that `from` receives, until {disable_proxy}.
    #
    # @param from [Connection]
    # @param to [Connection]
    # @param bufsize [Integer] when `to` has more queued bytes than this, `from` is paused until they are sent; 0: no
    #   limit
    # @param length [Integer] bytes to pass on; after them proxy_completed is called, and `from` receives its data
    #   itself; 0: all
    def enable_proxy(from, to, bufsize = 0, length = 0)
      _transport(from.signature).proxy_to(_transport(to.signature), bufsize, length)
      nil
    end

    # Stops what {enable_proxy} has begun.
    #
    # @param from [Connection]
    # @return [nil]
    def disable_proxy(from)
      _transport(from.signature).stop_proxy
      nil
    end

    # As {enable_proxy}, by signatures.
    #
    # @param from [Integer]
    # @param to [Integer]
    # @param bufsize [Integer] bytes; 0: no limit
    # @param length [Integer] bytes; 0: all
    def start_proxy(from, to, bufsize, length) = _transport(from).proxy_to(_transport(to), bufsize, length)

    # As {disable_proxy}, by a signature.
    #
    # @param from [Integer]
    def stop_proxy(from) = _transport(from).stop_proxy
  end

  class Connection
    # Makes `connection` send the bytes that this connection receives. See {EventMachine.enable_proxy}.
    def proxy_incoming_to(connection, bufsize = 0) = EventMachine.enable_proxy(self, connection, bufsize)

    # Stops what {#proxy_incoming_to} has begun: data is received by {#receive_data} again.
    def stop_proxying = EventMachine.disable_proxy(self)

    # @return [Integer] bytes passed on so far
    def get_proxied_bytes = @em_transport.proxied
  end

  class Transport
    def proxy_to(_target, _most, _length) = nil

    def stop_proxy = nil

    def proxied = 0

    # Moves bytes from the source stream to this transport inside the kernel, where that is possible.
    #
    # @return [Integer, nil] bytes; nil: not possible now
    def splice(_source, _most) = nil
  end

  class StreamTransport
    def proxy_to(target, most, length)
      return if @unbound
      raise "this connection already has a proxy target" if @proxy
      @proxy = target
      @proxied = 0
      @proxy_most = most
      @proxy_left = (length > 0) ? length : nil
      target.add_proxy_source(self)
    end

    def stop_proxy
      @proxy&.remove_proxy_source(self)
      @stream&.relays(false)
      @proxy = nil
    end

    def proxied = @proxied || 0

    # @private
    def add_proxy_source(source) = (@proxy_sources ||= []) << source

    # @private
    def remove_proxy_source(source) = @proxy_sources&.delete(source)

    # Called when the target is closed.
    # @private
    def target_gone
      @proxy = nil
      busy { @connection.proxy_target_unbound }
    end

    def splice(source, most)
      source.splice(@stream, most) unless @queueing || @closing || @unbound
    end

    # Called by the stream instead of _received, when many bytes are arriving.
    #
    # @return [Integer, nil] bytes passed on; nil: the stream must receive them
    # @private
    def _relay
      bytes = @proxy&.splice(@stream, @proxy_left)
      busy { count(bytes) && complete } if bytes
      bytes
    end

    private

    # @return [String, nil] the bytes beyond the requested length, which the connection receives itself
    def pass_on(data)
      rest = nil
      if @proxy_left && data.bytesize >= @proxy_left
        rest = data.byteslice(@proxy_left..)
        data = data.byteslice(0, @proxy_left)
      end
      @proxy.send_data(data)
      @stream.relays(true)
      count(data.bytesize)
      return unless rest
      complete
      rest unless rest.empty?
    end

    # @return [Boolean] whether the requested length has been passed on
    def count(bytes)
      @proxied += bytes
      @proxy_left -= bytes if @proxy_left
      pause_source if @proxy_most > 0
      @proxy_left == 0
    end

    def complete
      stop_proxy
      @connection.proxy_completed
    end

    # Pauses receiving while the target has too many queued bytes.
    def pause_source
      return if @proxy.outbound <= @proxy_most || @stream.closed?
      @stream.pause
      @proxy.when_sent { @stream.resume unless @paused || @stream.closed? }
    end

    ::Pelton.register_upcalls(stream_relay: instance_method(:_relay))
  end
end
