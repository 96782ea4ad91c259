# frozen_string_literal: true

# What one connection receives, another one sends.
module EventMachine
  class << self
    # Has `to` send what `from` receives, until {disable_proxy}.
    #
    # @param from [Connection]
    # @param to [Connection]
    # @param bufsize [Integer] bytes that `to` may have to send before `from` is read no more, until they are sent; 0: any
    # @param length [Integer] bytes to pass on; then `from` receives itself again, and proxy_completed is called; 0: all
    def enable_proxy(from, to, bufsize = 0, length = 0)
      _transport(from.signature).proxy_to(_transport(to.signature), bufsize, length)
      nil
    end

    def disable_proxy(from)
      _transport(from.signature).stop_proxy
      nil
    end

    def start_proxy(from, to, bufsize, length) = _transport(from).proxy_to(_transport(to), bufsize, length)

    def stop_proxy(from) = _transport(from).stop_proxy

    def get_proxied_bytes(signature) = _transport(signature).proxied
  end

  class Connection
    # As {EventMachine.enable_proxy}, from the other side: sends what `connection` receives.
    def proxy_incoming_to(connection, bufsize = 0)
      EventMachine.enable_proxy(self, connection, bufsize)
    end

    def stop_proxying = EventMachine.disable_proxy(self)

    # @return [Integer] bytes that were passed on
    def get_proxied_bytes = @em_transport.proxied
  end

  class Transport
    def proxy_to(_target, _most, _length) = nil

    def stop_proxy = nil

    def proxied = 0

    # Sends what there is to receive without a copy, where it can.
    #
    # @return [Integer, nil] bytes; nil: it cannot now
    def splice(_source, _most) = nil
  end

  class StreamTransport
    def proxy_to(target, most, length)
      return if @unbound
      raise "this connection is proxied already" if @proxy
      @proxy = target
      @proxied = 0
      @proxy_most = most
      @proxy_left = (length > 0) ? length : nil
      target.proxied_by(self)
    end

    def stop_proxy
      @proxy&.proxied_by_no_more(self)
      @stream&._relays(false)
      @proxy = nil
    end

    def proxied = @proxied || 0

    # @private
    def proxied_by(source) = (@proxy_sources ||= []) << source

    # @private
    def proxied_by_no_more(source) = @proxy_sources&.delete(source)

    # @private -- The target is closed.
    def target_gone
      @proxy = nil
      busy { @connection.proxy_target_unbound }
    end

    def splice(source, most)
      source._splice(@stream, most) unless @holding || @closing || @unbound
    end

    # @private -- Called by the stream instead of _received, when much is coming.
    # @return [Integer, nil] bytes that were passed on; nil: they are to be received
    def _relay
      bytes = @proxy&.splice(@stream, @proxy_left)
      busy { count(bytes) && complete } if bytes
      bytes
    end

    private

    # @return [String, nil] what is not to be passed on
    def pass_on(data)
      rest = nil
      if @proxy_left && data.bytesize >= @proxy_left
        rest = data.byteslice(@proxy_left..)
        data = data.byteslice(0, @proxy_left)
      end
      @proxy.send_data(data)
      @stream._relays(true)
      count(data.bytesize)
      return unless rest
      complete
      rest unless rest.empty?
    end

    # @return [Boolean] whether that was all
    def count(bytes)
      @proxied += bytes
      @proxy_left -= bytes if @proxy_left
      hold_back if @proxy_most > 0
      @proxy_left == 0
    end

    def complete
      stop_proxy
      @connection.proxy_completed
    end

    # The target has enough to send for now.
    def hold_back
      return if @proxy.outbound <= @proxy_most || @stream.closed?
      @stream.pause
      @proxy.when_sent { @stream.resume unless @paused || @stream.closed? }
    end
  end
end
