# frozen_string_literal: true

# Clients and servers.
module EventMachine
  class << self
    # Connects to a server, and returns the handler's object before the connection is made. The object's
    # connection_completed or unbind is called with the outcome. A name is resolved without blocking the loop: this call
    # waits for the answer.
    #
    # @param server [String] a name or an address; without a port, the path of a UNIX socket
    # @param handler [Class, Module, nil] a subclass of {Connection}, or a module for one
    # @yieldparam connection [Connection]
    # @return [Connection]
    # @raise [ConnectionError] when the name cannot be resolved
    # @asynchronous
    def connect(server, port = nil, handler = nil, *arguments, &block)
      bind_connect(nil, nil, server, port, handler, *arguments, &block)
    end
    ruby2_keywords :connect

    # Connects as {connect} does, from a given address of this machine.
    #
    # @asynchronous
    def bind_connect(bind_address, bind_port, server, port = nil, handler = nil, *arguments, &block)
      port, handler, arguments = without_port(port, handler, arguments)
      type = klass_from_handler(Connection, handler, *arguments)
      addresses, local = addresses_of(server, port, bind_address, bind_port)
      begin_connection(type, arguments, block) { |transport| transport.connect(addresses, local) }
    end
    ruby2_keywords :bind_connect

    # Connects to a UNIX socket. See {connect}.
    #
    # @param path [String]
    # @return [Connection] an object of the handler
    def connect_unix_domain(path, *arguments, &block) = connect(path, nil, *arguments, &block)
    ruby2_keywords :connect_unix_domain

    # Connects again, with an existing connection's object as the handler.
    #
    # @asynchronous
    def reconnect(server, port, handler)
      addresses, = addresses_of(server, port && Integer(port))
      _on_reactor do
        transport = StreamTransport.new
        handler.signature = transport.signature
        transport.connect(addresses)
        yield handler if block_given?
      end
      handler
    end

    # Listens. Each accepted connection gets an object of the handler.
    #
    # @param server [String] an address; without a port, the path of a UNIX socket
    # @return [Integer] a signature, for {stop_server}
    # @raise [RuntimeError] when the port is in use
    def start_server(server, port = nil, handler = nil, *arguments, &block)
      port, handler, arguments = without_port(port, handler, arguments)
      type = klass_from_handler(Connection, handler, *arguments)
      unless port
        return open_acceptor(type, arguments,
          block, "no unix-domain acceptor") { |accept| ::Pelton.listen_unix(server, &accept) }
      end
      open_acceptor(type, arguments, block, "no acceptor (port is in use or requires root privileges)") do |accept|
        ::Pelton.listen(server, Integer(port), &accept)
      end
    end
    ruby2_keywords :start_server

    # Listens on a UNIX socket. See {start_server}.
    #
    # @param path [String]
    # @return [Integer] a signature, for {stop_server}
    def start_unix_domain_server(path, *arguments, &block) = start_server(path, nil, *arguments, &block)
    ruby2_keywords :start_unix_domain_server

    # Accepts connections from a listening socket. The socket stays the caller's, who closes it.
    #
    # @param socket [Socket, TCPServer, UNIXServer]
    def attach_server(socket, handler = nil, *arguments, &block)
      type = klass_from_handler(Connection, handler, *arguments)
      open_acceptor(type, arguments, block, "no acceptor", shared: true) do |accept|
        ::Pelton::Listener.for_fd(socket.dup.tap { |copy| copy.autoclose = false }.fileno, &accept)
      end
    end
    ruby2_keywords :attach_server

    # Stops listening. Connections stay open, and clients that have connected already are accepted first.
    def stop_server(signature)
      @acceptors.delete(signature)
      _transport(signature).close(false)
      nil
    end
    alias_method :stop_tcp_server, :stop_server

    # @return [Boolean] whether there is a server in this loop
    # @private
    def _serving? = !@acceptors.empty?

    # @return [Class] the class for a handler
    # @raise [ArgumentError] when the handler is no class or module for a connection, or does not take the arguments
    def klass_from_handler(base = Connection, handler = nil, *arguments)
      type = case handler
      when Class
        raise ArgumentError, "must provide module or subclass of #{base.name}" unless base >= handler
        handler
      when Module then class_with(handler, base)
      else base
      end
      check_arity(type, arguments)
      type
    end
    ruby2_keywords :klass_from_handler

    private

    # A path has no port: the argument in the port's position is the handler.
    def without_port(port, handler, arguments)
      return [port, handler, arguments] if port.nil? || Integer(port, exception: false)
      [nil, port, (handler || !arguments.empty?) ? [handler, *arguments] : arguments]
    end

    # One class for each module, so that all objects of a module have the same class.
    def class_with(handler, base)
      name = :"EM_#{base.name.split("::").last.upcase}_CLASS"
      return handler.const_get(name, false) if handler.const_defined?(name, false)
      handler.const_set(name, Class.new(base) { include handler })
    end

    def check_arity(type, arguments)
      arity = type.instance_method(:initialize).arity
      expected = (arity >= 0) ? arity : -(arity + 1)
      return if (arity >= 0) ? arguments.size == expected : arguments.size >= expected
      raise ArgumentError, "wrong number of arguments for #{type}#initialize (#{arguments.size} for #{expected})"
    end

    def addresses_of(server, port, bind_address = nil, bind_port = nil)
      raise "eventmachine not initialized: evma_connect_to_server" unless reactor_running?
      return [[Addrinfo.unix(server)], nil] unless port
      raise ConnectionError, "invalid server or port" if Integer(port).zero?
      addresses = resolve(server, Integer(port), "unable to resolve address")
      return [addresses, nil] unless bind_address
      local = resolve(bind_address, Integer(bind_port || 0), "invalid bind address").first
      [addresses.select { |address| address.afamily == local.afamily }, local]
    end

    # Addresses and localhost are resolved without a thread.
    def resolve(host, port, failure)
      host = host.to_s
      # By RFC 6761
      raise ConnectionError, "#{failure}: Name or service not known" if host.match?(/(\A|\.)invalid\.?\z/i)
      if host.empty? || host == "localhost"
        Addrinfo.getaddrinfo(host.empty? ? nil : host, port, nil, :STREAM)
      else
        ::Pelton::Resolver.resolve(host, port)
      end
    rescue SocketError, ::Pelton::ResolutionError => error
      raise ConnectionError, "#{failure}: #{error.message[/getaddrinfo: (.*)/, 1] || error.message}"
    end

    def begin_connection(type, arguments, block)
      _on_reactor do
        transport = StreamTransport.new
        connection = nil
        begin
          yield transport
          connection = type._bind(transport, arguments, block)
        rescue Exception # standard:disable Lint/RescueException -- it is raised again, after the unfinished connection is gone
          _unregister(transport)
          transport.close(false)
          raise
        end
        connection
      end
    end

    def open_acceptor(type, arguments, block, refusal, shared: false, &open)
      raise "eventmachine not initialized: evma_create_tcp_server" unless reactor_running?
      _on_reactor do
        acceptor = Acceptor.new([type, arguments, block], shared: shared, &open)
        @acceptors[acceptor.signature] = [type, arguments, block]
        acceptor.signature
      end
    rescue ::Pelton::Error => error
      refusal = "#{refusal}: #{error.message}" if error.respond_to?(:errno) && error.errno == Errno::EMFILE::Errno
      raise refusal
    end
  end
end
