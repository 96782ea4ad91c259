# frozen_string_literal: true

module EventMachine
  # The base of all handlers: override what is called, call the rest. Objects are made by {EventMachine.connect},
  # {EventMachine.start_server} and the like, never by `new` alone.
  class Connection
    # @private
    # @param signature [Integer, nil] a transport's
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

    # Handlers that call super with their arguments find somebody who takes them.
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

    # When the object is there, before anything is sent or received.
    def post_init
    end

    # When a connection that {EventMachine.connect} began is made.
    def connection_completed
    end

    # @param data [String] binary, as many bytes as came at once: at most 65,536
    def receive_data(data)
      puts "............>>>#{data.length}"
    end

    # When it is closed, by either side. A handler may take an argument: the class of the error (Errno::ECONNREFUSED) that
    # ended it, or nil.
    def unbind
    end

    # When the handshake of {#start_tls} is done.
    def ssl_handshake_completed
    end

    # @param certificate [String] of the peer, PEM
    # @return whether it is accepted
    def ssl_verify_peer(certificate)
    end

    # When the connection that data is proxied to is closed.
    def proxy_target_unbound
    end

    # When as many bytes were proxied as were to be.
    def proxy_completed
    end

    # @!endgroup
    # @!group Output

    # Sends data. It never waits: what the peer does not take is kept.
    #
    # @param data [#to_s]
    # @return [Integer] bytes; 0 once it is closed, -1 when that was told
    def send_data(data)
      @em_transport.send_data(data.is_a?(String) ? data : data.to_s)
    end

    # @return [Integer] bytes that are not sent yet
    def get_outbound_data_size = @em_transport.outbound

    # Closes it, at once or when all is sent. {#unbind} is called later.
    def close_connection(after_writing = false)
      @em_transport.close(after_writing)
      nil
    end

    def close_connection_after_writing = close_connection(true)

    # @!endgroup
    # @!group Flow and time

    # Nothing is received, and nothing sent, until {#resume}.
    #
    # @return [Boolean] whether that is new
    def pause = @em_transport.pause

    def resume = @em_transport.resume

    def paused? = @em_transport.paused?

    # @return [Float] seconds without any byte after which it is closed, with Errno::ETIMEDOUT; 0.0: never
    def comm_inactivity_timeout = @em_transport.inactivity_timeout

    def comm_inactivity_timeout=(value)
      @em_transport.inactivity_timeout = value.to_f
    end
    alias_method :set_comm_inactivity_timeout, :comm_inactivity_timeout=

    # @return [Float] seconds after which an attempt to connect is given up, with Errno::ETIMEDOUT
    def pending_connect_timeout = @em_transport.pending_timeout

    def pending_connect_timeout=(value)
      @em_transport.pending_timeout = value.to_f
    end
    alias_method :set_pending_connect_timeout, :pending_connect_timeout=

    # @return [Float] seconds since bytes were last received or sent
    def get_idle_time = @em_transport.idle

    # @!endgroup
    # @!group What it is

    # @return [String, nil] the peer's packed address: see Socket.unpack_sockaddr_in
    def get_peername = @em_transport.peername

    # @return [String, nil] this side's packed address
    def get_sockname = @em_transport.sockname

    # @return [String] as it lies in memory
    def get_sock_opt(level, option) = @em_transport.socket_option(level, option)

    def set_sock_opt(level, option, value) = @em_transport.set_socket_option(level, option, value)

    # @return [Class, false] the error that ended it
    def error?
      number = @em_transport.errno
      number ? ERRNOS.fetch(number, true) : false
    end

    # @return [Integer, nil] of the child that {EventMachine.popen} started
    def get_pid = @em_transport.pid

    # @return [Process::Status, nil] of that child, once it has ended
    def get_status = @em_transport.status

    # Connects anew, with this object as its handler.
    def reconnect(server, port) = EventMachine.reconnect(server, port, self)

    # The descriptor is the program's from now on. {#unbind} is called.
    #
    # @return [Integer]
    def detach = @em_transport.detach

    # @private
    def associate_callback_target(_signature)
    end

    # @!endgroup
  end
end
