# frozen_string_literal: true

# Clients and servers.
module EventMachine
  class << self
    # Connects to a server. The handler's object comes back at once; its connection_completed or unbind tells what came of
    # it. A name is looked up without blocking the loop: this call waits for it.
    #
    # @param server [String] a name, an address, or the path of a UNIX socket, without a port
    # @param handler [Class, Module, nil] a {Connection}'s subclass or a module for one
    # @yieldparam connection [Connection]
    # @return [Connection]
    # @raise [ConnectionError] when the name is not known
    # @asynchronous
    def connect(server, port = nil, handler = nil, *arguments, &block)
      bind_connect(nil, nil, server, port, handler, *arguments, &block)
    end
    ruby2_keywords :connect

    # {connect} from an address of this machine.
    #
    # @asynchronous
    def bind_connect(bind_address, bind_port, server, port = nil, handler = nil, *arguments, &block)
      port, handler, arguments = without_port(port, handler, arguments)
      type = klass_from_handler(Connection, handler, *arguments)
      addresses, local = addresses_of(server, port, bind_address, bind_port)
      begin_connection(type, arguments, block) { |transport| transport.connect(addresses, local) }
    end
    ruby2_keywords :bind_connect

    def connect_unix_domain(path, *arguments, &block) = connect(path, nil, *arguments, &block)
    ruby2_keywords :connect_unix_domain

    # Connects anew, with a connection's object as the handler.
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

    # Listens. Each connection gets an object of the handler.
    #
    # @param server [String] an address, or the path of a UNIX socket, without a port
    # @return [Integer] a signature, for {stop_server}
    # @raise [RuntimeError] when the port is taken
    def start_server(server, port = nil, handler = nil, *arguments, &block)
      port, handler, arguments = without_port(port, handler, arguments)
      type = klass_from_handler(Connection, handler, *arguments)
      return open_acceptor(type, arguments, block, "no unix-domain acceptor") { |accept| ::Pelton.listen_unix(server, &accept) } unless port
      open_acceptor(type, arguments, block, "no acceptor (port is in use or requires root privileges)") do |accept|
        ::Pelton.listen(server, Integer(port), &accept)
      end
    end
    ruby2_keywords :start_server

    def start_unix_domain_server(path, *arguments, &block) = start_server(path, nil, *arguments, &block)
    ruby2_keywords :start_unix_domain_server

    # Accepts from a listening socket, which stays the caller's: it is the caller's to close.
    #
    # @param socket [Socket, TCPServer, UNIXServer]
    def attach_server(socket, handler = nil, *arguments, &block)
      type = klass_from_handler(Connection, handler, *arguments)
      open_acceptor(type, arguments, block, "no acceptor") do |accept|
        ::Pelton::Listener.for_fd(socket.dup.tap { |copy| copy.autoclose = false }.fileno, &accept)
      end
    end
    ruby2_keywords :attach_server

    # Stops listening. The connections stay.
    def stop_server(signature)
      @acceptors.delete(signature)
      _transport(signature).close(false)
      nil
    end
    alias_method :stop_tcp_server, :stop_server

    # The class for a handler.
    #
    # @raise [ArgumentError] when it is none, or does not take the arguments
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

    # A path has no port: what stands there is the handler.
    def without_port(port, handler, arguments)
      return [port, handler, arguments] if port.nil? || Integer(port, exception: false)
      [nil, port, (handler || !arguments.empty?) ? [handler, *arguments] : arguments]
    end

    # One class a module, so that its objects are of one kind.
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

    # Addresses, and names that the machine knows itself, take no thread.
    def resolve(host, port, what)
      host = host.to_s
      raise ConnectionError, "#{what}: Name or service not known" if host.match?(/(\A|\.)invalid\.?\z/i) # by RFC 6761
      if host.empty? || host == "localhost"
        Addrinfo.getaddrinfo(host.empty? ? nil : host, port, nil, :STREAM)
      else
        ::Pelton::Resolver.resolve(host, port)
      end
    rescue SocketError, ::Pelton::ResolutionError => error
      raise ConnectionError, "#{what}: #{error.message[/getaddrinfo: (.*)/, 1] || error.message}"
    end

    def begin_connection(type, arguments, block)
      _on_reactor do
        transport = StreamTransport.new
        connection = nil
        begin
          yield transport
          connection = type._bind(transport, arguments, block)
        rescue Exception # standard:disable Lint/RescueException -- it goes on, but no half-made connection stays
          _unregister(transport)
          transport.close(false)
          raise
        end
        connection
      end
    end

    def open_acceptor(type, arguments, block, refusal, &open)
      raise "eventmachine not initialized: evma_create_tcp_server" unless reactor_running?
      _on_reactor do
        acceptor = Acceptor.new([type, arguments, block], &open)
        @acceptors[acceptor.signature] = [type, arguments, block]
        acceptor.signature
      end
    rescue ::Pelton::Error => error
      refusal = "#{refusal}: #{error.message}" if error.respond_to?(:errno) && error.errno == Errno::EMFILE::Errno
      raise refusal
    end
  end
end
