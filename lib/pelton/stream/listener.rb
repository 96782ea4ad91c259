# frozen_string_literal: true

require "socket"

module Pelton
  # Accepts connections. {Pelton.listen} and {Pelton.listen_unix} make one. When descriptors run out it pauses for a
  # tenth of a second at a time, and accepts the connections in the backlog later. It belongs to the thread that opened
  # it; a child after a fork makes its own by {for_fd}.
  class Listener
    # Takes over a listening descriptor, such as an inherited one. The listener closes it.
    #
    # @param fd [Integer]
    # @param shared [Boolean] whether other processes accept from the same socket. Then this one accepts one connection
    #   for each loop iteration, so that a busy process leaves connections to the others
    # @param tls [TLS::Context, Hash, nil] as for {Pelton.listen}
    # @param handshake_timeout [Numeric] as for {Pelton.listen}
    # @yieldparam stream [Stream]
    # @return [Listener]
    # @raise [ConnectionError] when the descriptor cannot be used; it stays the caller's
    # @raise [NotRunningError] with a block, where no reactor runs on this thread
    def self.for_fd(fd, shared: false, tls: nil, handshake_timeout: 10, &block)
      Reactor.require_running("Listener.for_fd with a block") if block
      _with_tls(tls, handshake_timeout, block) { |handler| _for_fd(fd, shared, &handler) }
    end

    # Opens a listener by the block, and lets each connection finish its TLS handshake before the handler is called.
    # @private
    def self._with_tls(tls, timeout, handler)
      return yield handler unless tls
      acceptor = TLS::Acceptor.new(tls, timeout)
      listener = yield(handler && ->(stream) { acceptor.begin(stream, &handler) })
      listener.tap { listener.instance_variable_set(:@tls, acceptor) }
    end

    # Waits for the next connection. The listener must have been made without a block. Several fibers may accept.
    #
    # @param timeout [Numeric, nil] seconds
    # @return [Stream]
    # @raise [TimeoutError] when the time is over first
    # @raise [ClosedError] when the listener is closed, also while the call waits
    # @raise [Error] when the listener has a block, or belongs to another thread
    # @asynchronous
    def accept(timeout: nil)
      stream = _accept(timeout)
      @tls&.begin(stream)
      stream
    end

    # @return [Addrinfo] the address on which it listens
    def local_address = Socket.for_fd(fileno).tap { |socket| socket.autoclose = false }.local_address

    # @return [Integer] the TCP port
    def port = local_address.ip_port

    # @return [Integer] connections that were closed because their TLS handshake failed or took too long
    def failed_handshakes = @tls ? @tls.failed : 0

    # Calls the block with the peer's IP address, or nil, and the error of each handshake that fails.
    # @private
    def on_failed_handshake(&block) = @tls&.on_failure = block

    # A server that stops without losing connections waits until there are none.
    #
    # @return [Integer] accepted connections for which the block has not been called yet: they wait in the queue, or
    #   their TLS handshake is under way. The block is called for them even after {#close}
    def pending = _queued + (@tls ? @tls.pending : 0)

    # @!method close
    #   Stops accepting. Accepted connections stay open. Does nothing when the listener is closed already.
    #   @return [nil]

    # @!method finish
    #   Accepts all connections in the backlog, calls the block for them, and stops accepting. It is for the last
    #   process that listens on a socket: when that is closed, the system resets the connections in the backlog. Without
    #   a block it does the same as {#close}.
    #   @return [nil]

    # @!method closed?
    #   @return [Boolean]

    # @!method fileno
    #   @return [Integer] the descriptor; the listener keeps it and closes it

    # @!method stats
    #   @return [Hash{Symbol => Integer}] counters: connections `accepted`, and `pauses` for want of descriptors or
    #     memory
  end

  class << self
    # Listens on a TCP address. The block is called for each connection, and may wait without delaying the others. It
    # closes the stream: a stream that it leaves open stays open until the garbage collector finds it. An error in the
    # block closes the stream, and goes to {on_error}. An open listener with a block keeps {run} going.
    #
    # @param host [String] an address of this machine, or a name for one; "::" is IPv6 alone, "localhost" IPv4
    # @param port [Integer] 0: any free port, see {Listener#port}
    # @param backlog [Integer] connections that may wait to be accepted; 0: the system's limit
    # @param reuse_port [Boolean] lets several processes share the port
    # @param tls [TLS::Context, Hash, nil] makes each connection speak TLS; a Hash has options for
    #   {TLS::Context#initialize}. The block is called when the handshake is done. {Listener#accept} does not wait for
    #   the handshake, but the first read or write does
    # @param handshake_timeout [Numeric] seconds that a peer may take for the handshake
    # @yieldparam stream [Stream]
    # @return [Listener]
    # @raise [ResolutionError] when the host's name cannot be resolved
    # @raise [ConnectionError] when the address is in use, or is no address of this machine
    # @raise [NotRunningError] with a block, where no reactor runs on this thread
    def listen(host, port, backlog: 0, reuse_port: false, tls: nil, handshake_timeout: 10, &block)
      Reactor.require_running("Pelton.listen with a block") if block
      open_listener(Address.resolve(host, port), backlog, reuse_port, tls, handshake_timeout, &block)
    end

    # Listens on a UNIX socket. A stale socket file, on which nothing listens, is removed first. Closing the listener
    # leaves the file, because another process may listen there by then.
    #
    # @param path [String]
    # @param backlog [Integer] as for {listen}
    # @param tls [TLS::Context, Hash, nil] as for {listen}
    # @param handshake_timeout [Numeric] as for {listen}
    # @yieldparam stream [Stream]
    # @return [Listener]
    # @raise [ConnectionError] when another process listens there, or the file cannot be made
    # @raise [NotRunningError] with a block, where no reactor runs on this thread
    def listen_unix(path, backlog: 0, tls: nil, handshake_timeout: 10, &block)
      Reactor.require_running("Pelton.listen_unix with a block") if block
      address = Addrinfo.unix(path)
      open_listener(address, backlog, false, tls, handshake_timeout, &block)
    rescue ConnectionError => error
      raise unless error.errno == Errno::EADDRINUSE::Errno && abandoned?(path)
      File.unlink(path)
      open_listener(address, backlog, false, tls, handshake_timeout, &block)
    end

    private

    def open_listener(address, backlog, reuse_port, tls, timeout, &block)
      Listener._with_tls(tls, timeout, block) do |handler|
        Listener._open(address.to_sockaddr, backlog, reuse_port, &handler)
      end
    rescue ConnectionError => error
      raise error.exception("cannot listen on #{address.inspect_sockaddr}: #{error.message}")
    end

    def abandoned?(path)
      return false unless File.socket?(path)
      Socket.open(:UNIX, :STREAM) { |socket| socket.connect_nonblock(Addrinfo.unix(path), exception: false) }
      false
    rescue Errno::ECONNREFUSED
      true
    rescue SystemCallError
      false
    end
  end
end
