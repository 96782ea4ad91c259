# frozen_string_literal: true

module EventMachine
  class Connection
    # Turns TCP keepalive on: the system probes a silent peer, and closes the connection when the peer does not answer.
    #
    # @param idle [Integer, nil] seconds of silence before the first probe; nil: the system's default
    # @param interval [Integer, nil] seconds between probes; nil: the system's default
    # @param count [Integer, nil] unanswered probes before the connection is closed; nil: the system's default
    def enable_keepalive(idle = nil, interval = nil, count = nil)
      EventMachine.enable_keepalive(@signature, idle, interval, count)
    end

    # Turns TCP keepalive off.
    def disable_keepalive = EventMachine.disable_keepalive(@signature)
  end

  class << self
    # Turns TCP keepalive on. See {Connection#enable_keepalive}.
    #
    # @param signature [Integer]
    def enable_keepalive(signature, idle = nil, interval = nil, count = nil)
      transport = _transport(signature)
      transport.set_socket_option(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE, true)
      {TCP_KEEPIDLE: idle, TCP_KEEPINTVL: interval, TCP_KEEPCNT: count}.each do |option, value|
        transport.set_socket_option(Socket::IPPROTO_TCP, Socket.const_get(option), Integer(value)) if value && value > 0
      end
      nil
    end

    # Turns TCP keepalive off.
    #
    # @param signature [Integer]
    def disable_keepalive(signature)
      _transport(signature).set_socket_option(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE, false)
      nil
    end
  end
end
