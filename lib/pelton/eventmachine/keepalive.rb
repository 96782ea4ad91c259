# frozen_string_literal: true

module EventMachine
  class Connection
    # Has the system ask a silent peer whether it is still there, and close the connection when it is not.
    #
    # @param idle [Integer, nil] seconds of silence before it asks; nil: the system's
    # @param interval [Integer, nil] seconds between questions
    # @param count [Integer, nil] questions without an answer
    def enable_keepalive(idle = nil, interval = nil, count = nil)
      EventMachine.enable_keepalive(@signature, idle, interval, count)
    end

    def disable_keepalive = EventMachine.disable_keepalive(@signature)
  end

  class << self
    def enable_keepalive(signature, idle = nil, interval = nil, count = nil)
      transport = _transport(signature)
      transport.set_socket_option(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE, true)
      {TCP_KEEPIDLE: idle, TCP_KEEPINTVL: interval, TCP_KEEPCNT: count}.each do |option, value|
        transport.set_socket_option(Socket::IPPROTO_TCP, Socket.const_get(option), Integer(value)) if value && value > 0
      end
      nil
    end

    def disable_keepalive(signature)
      _transport(signature).set_socket_option(Socket::SOL_SOCKET, Socket::SO_KEEPALIVE, false)
      nil
    end
  end
end
