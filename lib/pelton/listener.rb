# frozen_string_literal: true

require "socket"

module Pelton
  # Accepts connections. Made by {Pelton.listen} and {Pelton.listen_unix}. When descriptors run out it pauses for a tenth
  # of a second at a time; what waits in the backlog is accepted later. All of it happens on the thread that opened the
  # listener; a child after a fork makes its own by {for_fd}.
  class Listener
    # Takes a listening descriptor over, such as an inherited one. The listener closes it.
    #
    # @param fd [Integer]
    # @param shared [Boolean] whether other processes accept from it, too. Then this one takes one connection a turn, so
    #   that one which is busy leaves the others theirs.
    # @param tls [TLS::Context, Hash, nil] as for {Pelton.listen}
    # @param handshake_timeout [Numeric] as for {Pelton.listen}
    # @yieldparam stream [Stream]
    # @return [Listener]
    # @raise [ConnectionError] the descriptor stays the caller's
    def self.for_fd(fd, shared: false, tls: nil, handshake_timeout: 10, &block)
      _with_tls(tls, handshake_timeout, block) { |handler| _for_fd(fd, shared, &handler) }
    end

    # Has what the block opens shake hands with each peer before the handler is called.
    # @private
    def self._with_tls(tls, timeout, handler)
      return yield handler unless tls
      acceptor = TLS::Acceptor.new(tls, timeout)
      listener = yield(handler && ->(stream) { acceptor.begin(stream, &handler) })
      listener.tap { listener.instance_variable_set(:@tls, acceptor) }
    end

    # Waits for the next connection. Only of a listener that was made without a block. Several fibers may accept.
    #
    # @param timeout [Numeric, nil] seconds
    # @return [Stream]
    # @raise [TimeoutError]
    # @raise [ClosedError] when the listener is closed, also while the call waits
    # @asynchronous
    def accept(timeout: nil)
      stream = _accept(timeout)
      @tls&.begin(stream)
      stream
    end

    # @return [Addrinfo] the address it listens on
    def local_address = Socket.for_fd(fileno).tap { |socket| socket.autoclose = false }.local_address

    # @return [Integer] the TCP port
    def port = local_address.ip_port

    # @return [Integer] connections that were closed because their TLS handshake failed, or took too long
    def failed_handshakes = @tls ? @tls.failed : 0

    # Whoever stops, and wants to lose nobody, waits until there are none.
    #
    # @return [Integer] connections that were accepted and that the block has not been given yet: its turn has not come, or
    #   their TLS handshake is under way. A closed listener still hands them over
    def pending = _queued + (@tls ? @tls.pending : 0)

    # @!method close
    #   Stops accepting. The streams that were accepted stay. Legal for a closed listener.
    #   @return [nil]

    # @!method finish
    #   Accepts what waits in the backlog, hands it to the block, and stops accepting. For the last who listens on a socket:
    #   when it is closed the system resets those who wait to be accepted. Without a block: as {close}.
    #   @return [nil]

    # @!method closed?
    #   @return [Boolean]

    # @!method fileno
    #   @return [Integer] the descriptor, which stays the listener's

    # @!method stats
    #   @return [Hash{Symbol => Integer}] connections `accepted`, and `pauses` because descriptors or memory had run out
  end

  class << self
    # Listens on a TCP address. Each connection is handed to the block, as a {Stream}; the block may wait, and holds up
    # nobody. An open listener with a block keeps {run} going.
    #
    # @param host [String] an address of this machine, or a name of one; "::" is IPv6 alone, "localhost" IPv4
    # @param port [Integer] 0: any free one, see {Listener#port}
    # @param backlog [Integer] connections that may wait to be accepted; 0: the system's limit
    # @param reuse_port [Boolean] lets several processes share the port
    # @param tls [TLS::Context, Hash, nil] has each connection speak TLS; a Hash is of what {TLS::Context#initialize} takes.
    #   The block is called when the handshake is done. {Listener#accept} does not wait for it: reading and writing do
    # @param handshake_timeout [Numeric] seconds that a peer may take for the handshake
    # @yieldparam stream [Stream]
    # @return [Listener]
    # @raise [ResolutionError]
    # @raise [ConnectionError] when the address is in use or not ours
    def listen(host, port, backlog: 0, reuse_port: false, tls: nil, handshake_timeout: 10, &block)
      open_listener(Address.resolve(host, port), backlog, reuse_port, tls, handshake_timeout, &block)
    end

    # Listens on a UNIX socket. A path that nobody listens on any more is removed first. Closing the listener leaves the
    # path, because another process may listen there by then.
    #
    # @param path [String]
    # @param backlog [Integer] as for {listen}
    # @param tls [TLS::Context, Hash, nil] as for {listen}
    # @param handshake_timeout [Numeric] as for {listen}
    # @yieldparam stream [Stream]
    # @return [Listener]
    # @raise [ConnectionError]
    def listen_unix(path, backlog: 0, tls: nil, handshake_timeout: 10, &block)
      address = Addrinfo.unix(path)
      open_listener(address, backlog, false, tls, handshake_timeout, &block)
    rescue ConnectionError => error
      raise unless error.errno == Errno::EADDRINUSE::Errno && abandoned?(path)
      File.unlink(path)
      open_listener(address, backlog, false, tls, handshake_timeout, &block)
    end

    private

    def open_listener(address, backlog, reuse_port, tls, timeout, &block)
      Listener._with_tls(tls, timeout, block) { |handler| Listener._open(address.to_sockaddr, backlog, reuse_port, &handler) }
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
