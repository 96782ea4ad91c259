# frozen_string_literal: true

require "socket"

module Pelton
  # Accepts connections. Made by {Pelton.listen} and {Pelton.listen_unix}.
  class Listener
    # Waits for the next connection. Only of a listener that was made without a block.
    #
    # @return [Stream]
    # @raise [TimeoutError, ClosedError]
    # @asynchronous
    def accept(timeout: nil) = _accept(timeout)

    # @return [Addrinfo] the address it listens on
    def local_address = Socket.for_fd(fileno).tap { |socket| socket.autoclose = false }.local_address

    # @return [Integer] the TCP port
    def port = local_address.ip_port
  end

  class << self
    # Listens on a TCP address. Each connection is handed to the block, as a {Stream}; the block may wait, and holds up
    # nobody. An open listener with a block keeps {run} going.
    #
    # @param port [Integer] 0: any free one, see {Listener#port}
    # @param backlog [Integer] connections that may wait to be accepted; 0: the system's limit
    # @param reuse_port [Boolean] lets several processes share the port
    # @raise [ConnectionError] when the address is in use or not ours
    # @return [Listener]
    def listen(host, port, backlog: 0, reuse_port: false, &block)
      address = Addrinfo.tcp(host, port)
      Listener._open(address.to_sockaddr, backlog, reuse_port, &block)
    rescue SocketError => error
      raise ResolutionError, "#{host}: #{error.message}"
    end

    # Listens on a UNIX socket. A path that nobody listens on any more is removed first.
    # @return [Listener]
    def listen_unix(path, backlog: 0, &block)
      address = Addrinfo.unix(path).to_sockaddr
      Listener._open(address, backlog, false, &block)
    rescue ConnectionError => error
      raise unless error.errno == Errno::EADDRINUSE::Errno && abandoned?(path)
      File.unlink(path)
      Listener._open(address, backlog, false, &block)
    end

    private

    def abandoned?(path)
      return false unless File.socket?(path)
      UNIXSocket.new(path).close
      false
    rescue Errno::ECONNREFUSED
      true
    end
  end
end
