# frozen_string_literal: true

require "socket"
require_relative "server_thread"

module Pelton
  module Memcached
    # A memcached inside this process: for tests, for development, and for caches that need no machine of their own. It
    # speaks classic text and meta commands to any client, on a reactor that may run other things as well. Serving a
    # request runs no Ruby code.
    #
    #     Pelton.run do
    #       server = Pelton::Memcached::Server.new.start
    #       cache = Pelton::Memcached::Client.new("127.0.0.1:#{server.port}")
    #       cache.set("greeting", "hello")
    #     end
    #
    # Where no reactor runs it starts a thread with one, so it serves blocking clients of the same process, too:
    #
    #     Pelton::Memcached::Server.start do |server|
    #       Dalli::Client.new(*server.addresses, protocol: :meta).set("greeting", "hello")
    #     end
    #
    # It has neither authentication nor encryption, like memcached by default: only listen on addresses whose users you
    # trust. It never listens on UDP.
    class Server
      # An item has 56 bytes of header, its key and two more bytes besides its value: they must fit in.
      SMALLEST_VALUE_LIMIT = 1024
      LARGEST_VALUE_LIMIT = 1 << 30
      LONGEST_IDLE_TIMEOUT = 86_400
      # Seconds between two lines of the log about clients of the binary protocol.
      REPORT_EVERY = 60
      private_constant :REPORT_EVERY

      # Makes a server and starts it. With a block, stops it at the block's end.
      #
      # @return [Server] with a block, the block's value
      def self.start(**options)
        server = new(**options).start
        return server unless block_given?
        begin
          yield server
        ensure
          server.stop
        end
      end

      # @param host [String, Array<String>, nil] addresses to listen on; nil: 127.0.0.1, or with a path no address
      # @param port [Integer] 0: any free port, see {#port}
      # @param path [String, nil] a UNIX socket to listen on; TCP then needs a host
      # @param mode [Integer] the permissions of the UNIX socket
      # @param memory [Integer] bytes of all items together, 1 MB at least; when they are used up, the least recently
      #   used items are evicted
      # @param max_connections [Integer] 1 to 60,000; further connections get "ERROR Too many open connections"
      # @param value_limit [Integer] bytes of one item, including its key and a header of some 60 bytes: 1 KB to 1 GB
      # @param idle_timeout [Integer] seconds after which a silent connection is closed; 0: never
      # @param verbosity [Integer] 2: write each command to stderr
      # @raise [ArgumentError] a limit is out of range
      def initialize(host: nil, port: 0, path: nil, mode: 0o700, memory: 64 << 20, max_connections: 1024,
        value_limit: 1 << 20,
        idle_timeout: 0, verbosity: 0)
        @hosts = Array(host || (path ? nil : "127.0.0.1"))
        @requested_port = Integer(port)
        @path = path
        @mode = Integer(mode)
        @memory = Integer(memory)
        @max_connections = Integer(max_connections)
        @value_limit = Integer(value_limit)
        @idle_timeout = Integer(idle_timeout)
        @verbosity = Integer(verbosity)
        check
      end

      # @return [String, nil] the path of the UNIX socket
      attr_reader :path

      # @return [Integer, nil] the TCP port while the server runs; nil without one
      attr_reader :port

      # @return [Array<String>] the addresses of a running server: "127.0.0.1:11211", "[::1]:11211",
      #   "/run/memcached.sock"
      def addresses
        tcp = if port
          @hosts.map { |host| "#{host.include?(":") ? "[#{host}]" : host}:#{port}" }
        else
          []
        end
        (running? && path) ? [*tcp, path] : tcp
      end

      # Listens, and serves until {#stop} or until the reactor stops. A running server keeps `Pelton.run` going. Outside
      # of `Pelton.run` it runs in a thread of its own.
      #
      # @raise [ConnectionError] an address is in use, or is not this machine's
      # @return [self]
      def start
        if Reactor.running? || running?
          serve
        else
          @thread = ServerThread.start { serve }
        end
        self
      end

      # Runs a reactor for this server until it is stopped.
      #
      # @yieldparam server [Server] once it listens
      # @return [self]
      # @raise [ConnectionError] as {#start}
      # @asynchronous
      def run
        Pelton.run do
          start
          yield self if block_given?
        end
        self
      ensure
        remove_socket
      end

      # Answers the requests that have arrived, closes all connections and drops all items. It may be called from any
      # thread, and when the server does not run.
      def stop
        running? ? ServerThread.call(@reactor) { close } : close
        @thread&.join
        @thread = nil
      end

      # @!method running?
      #   @return [Boolean]

      # Sizes and counters, by memcached's names.
      #
      # @return [Hash{Symbol => Integer}]
      # @raise [ClosedError] the server does not run
      def stats = running? ? ServerThread.call(@reactor) { _stats } : _stats

      # C calls it about once a second while there are new ones.
      #
      # @param count [Integer] all since the start
      # @private
      def _binary_clients(count)
        return if @reported && Clock.now - @reported < REPORT_EVERY
        @reported = Clock.now
        who, were = (count > 1) ? ["#{count} clients", "were"] : ["1 client", "was"]
        Pelton.logger.warn("memcached: #{who} spoke the binary protocol, which this server does not, and #{were} cut " \
          "off: let them speak the text protocol (Dalli before 5.0: protocol: :meta)")
      end

      Pelton.register_upcalls(binary_clients: instance_method(:_binary_clients))

      private

      def check
        raise ArgumentError, "memory must be at least 1 MB, not #{@memory}" if @memory < 1 << 20
        unless (1..60_000).cover?(@max_connections)
          raise ArgumentError, "max_connections must be 1 to 60,000, not #{@max_connections}"
        end
        unless (0..LONGEST_IDLE_TIMEOUT).cover?(@idle_timeout)
          raise ArgumentError, "idle_timeout must be 0 to #{LONGEST_IDLE_TIMEOUT} seconds, not #{@idle_timeout}"
        end
        return if (SMALLEST_VALUE_LIMIT..[LARGEST_VALUE_LIMIT, @memory].min).cover?(@value_limit)
        raise ArgumentError, "value_limit must be 1 KB to 1 GB, and no more than memory, not #{@value_limit}"
      end

      def serve
        _start(@memory, @value_limit, @max_connections, @idle_timeout, @verbosity)
        @reactor = Reactor.current
        begin
          listen
        rescue
          close
          raise
        end
      end

      def close
        _close
        remove_socket
        @port = nil
      end

      def listen
        port = @requested_port
        @hosts.each do |host|
          adopt(Pelton.listen(host, port)) { |listener| port = listener.port }
          @port = port
        end
        listen_unix if path
        _describe(port, @hosts.join(","), path.to_s)
      end

      # The umask gives the socket its mode from the beginning: chmod would leave a moment with another one.
      def listen_unix
        before = File.umask(0o777 & ~@mode)
        adopt(Pelton.listen_unix(path))
        @socket = [Process.pid, File.stat(path).ino]
      ensure
        File.umask(before)
      end

      # Removes the socket unless it is the parent process's, or another program's that listens on the same path now.
      def remove_socket
        File.unlink(path) if @socket && @socket == [Process.pid, File.stat(path).ino]
      rescue Errno::ENOENT
        nil
      ensure
        @socket = nil
      end

      def adopt(listener)
        yield listener if block_given?
        _listen(listener.fileno)
      ensure
        listener.close
      end
    end
  end
end
