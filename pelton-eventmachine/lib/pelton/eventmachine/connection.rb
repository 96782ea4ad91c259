# frozen_string_literal: true

module EventMachine
  # The base class of all handlers: override the methods that the loop calls, and call the others.
  # {EventMachine.connect}, {EventMachine.start_server} and the like make the objects; programs do not call `new`.
  class Connection
    include Pelton::Opaque

    # @private
    # @param signature [Integer, nil] the signature of its transport
    def self.new(signature, *arguments, &block)
      transport = EventMachine._transport(signature)
      allocate.instance_eval do
        @signature = signature
        @em_transport = transport
        transport.connection = self
        associate_callback_target(signature)
        initialize(*arguments, &block)
        post_init
        self
      end
    end
    singleton_class.__send__(:ruby2_keywords, :new)

    # @private
    def self._bind(transport, arguments, block)
      connection = new(transport.signature, *arguments)
      block&.call(connection)
      connection
    end

    # Takes any arguments, for handlers that call super with theirs.
    def initialize(*)
    end

    # @return [Integer] its number, for EventMachine's module functions
    attr_reader :signature

    # @private
    def signature=(signature)
      @signature = signature
      @em_transport = EventMachine._transport(signature)
      @em_transport.connection = self
    end

    alias_method :original_method, :method

    # @!group Called by the loop

    # Called when the object exists, before anything is sent or received.
    def post_init
    end

    # Called when a connection of {EventMachine.connect} is established.
    def connection_completed
    end

    # Called with received bytes.
    #
    # @param data [String] binary, at most 65,536 bytes
    def receive_data(data)
      puts "............>>>#{data.length}"
    end

    # Called when the connection has been closed, by either side. A handler may take an argument: the class of the error
    # that ended the connection (such as Errno::ECONNREFUSED), or nil.
    def unbind
    end

    # Called when the handshake of {#start_tls} is done.
    def ssl_handshake_completed
    end

    # Called with each certificate of the peer's chain, after `start_tls(verify_peer: true)`.
    #
    # @param certificate [String] PEM
    # @return [Boolean] whether the certificate is accepted
    def ssl_verify_peer(certificate)
    end

    # Called when the connection to which data is proxied has been closed.
    def proxy_target_unbound
    end

    # Called when the requested number of bytes has been proxied.
    def proxy_completed
    end

    # @!endgroup
    # @!group Output

    # Sends data, and never waits: bytes that the peer does not take yet are queued. Any thread may call this.
    #
    # @param data [#to_s]
    # @return [Integer] bytes; 0 after {#close_connection}, -1 after {#unbind}
    def send_data(data) = @em_transport.send_data(data.is_a?(String) ? data : data.to_s)

    # @return [Integer] bytes that are queued and not sent yet
    def get_outbound_data_size = @em_transport.outbound

    # Closes the connection, at once or when all queued bytes are sent. {#unbind} is called later. Any thread may call
    # this.
    def close_connection(after_writing = false)
      EventMachine._in_loop { @em_transport.close(after_writing) }
      nil
    end

    # Closes the connection when all queued bytes are sent.
    def close_connection_after_writing = close_connection(true)

    # @!endgroup
    # @!group Flow and time

    # Stops receiving and sending until {#resume}.
    #
    # @return [Boolean] false when it was paused already
    def pause = @em_transport.pause

    # Receives and sends again after {#pause}.
    #
    # @return [Boolean] false if it was not paused
    def resume = @em_transport.resume

    def paused? = @em_transport.paused?

    # @return [Float] seconds without a byte in either direction after which the connection is closed with
    #   Errno::ETIMEDOUT; 0.0: never
    def comm_inactivity_timeout = @em_transport.inactivity_timeout

    # @param value [Numeric] seconds; 0: never
    def comm_inactivity_timeout=(value)
      @em_transport.inactivity_timeout = value.to_f
    end
    alias_method :set_comm_inactivity_timeout, :comm_inactivity_timeout=

    # @return [Float] seconds after which an attempt to connect fails with Errno::ETIMEDOUT
    def pending_connect_timeout = @em_transport.pending_timeout

    # @param value [Numeric] seconds
    def pending_connect_timeout=(value)
      @em_transport.pending_timeout = value.to_f
    end
    alias_method :set_pending_connect_timeout, :pending_connect_timeout=

    # @return [Float] seconds since bytes were received or sent
    def get_idle_time = @em_transport.idle

    # @!endgroup
    # @!group Properties

    # @return [String, nil] the peer's packed address: see Socket.unpack_sockaddr_in
    def get_peername = @em_transport.peername

    # @return [String, nil] this side's packed address
    def get_sockname = @em_transport.sockname

    # @return [String] the option's bytes, in the system's format
    def get_sock_opt(level, option) = @em_transport.socket_option(level, option)

    # Sets a socket option (setsockopt(2)).
    #
    # @param level [Integer] such as Socket::SOL_SOCKET
    # @param option [Integer] such as Socket::SO_KEEPALIVE
    # @param value [Integer, Boolean, String]
    def set_sock_opt(level, option, value) = @em_transport.set_socket_option(level, option, value)

    # @return [Class, false] the class of the error that ended the connection
    def error?
      number = @em_transport.errno
      number ? ERRNOS.fetch(number, true) : false
    end

    # @return [Integer, nil] the process id of the child that {EventMachine.popen} started
    def get_pid = @em_transport.pid

    # @return [Process::Status, nil] the status of that child, once it has ended
    def get_status = @em_transport.status

    # Connects again, with this object as the handler.
    def reconnect(server, port) = EventMachine.reconnect(server, port, self)

    # Gives the descriptor to the program. {#unbind} is called, and the descriptor stays open.
    #
    # @return [Integer] the descriptor
    def detach = @em_transport.detach

    # @private
    def associate_callback_target(_signature)
    end

    # @!endgroup
  end
end
