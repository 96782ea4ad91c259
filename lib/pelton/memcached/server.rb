# frozen_string_literal: true

require "socket"
require_relative "server_thread"

module Pelton
  module Memcached
    # A memcached inside this process: for tests, for development, and for caches that need no machine of their own. It
    # speaks memcached's protocols (classic text, meta, and the binary one of older clients) to any client, on a reactor
    # that may have other things to do as well; no Ruby runs on its way from socket to socket.
    #
    #     Pelton.run do
    #       server = Pelton::Memcached::Server.new.start
    #       cache = Pelton::Memcached::Client.new("127.0.0.1:#{server.port}")
    #       cache.set("greeting", "hello")
    #     end
    #
    # Where no reactor runs it starts a thread with one, so that blocking clients of the same process are served, too:
    #
    #     Pelton::Memcached::Server.start { |server| Dalli::Client.new(*server.addresses).set("greeting", "hello") }
    #
    # It has neither authentication nor encryption, as memcached has none by default: listen on addresses only whose
    # users you trust. It never listens on UDP.
    class Server
      # What one item may have beside its value: 56 bytes of header, the key and two more.
      SMALLEST_VALUE_LIMIT = 1024
      LARGEST_VALUE_LIMIT = 1 << 30
      LONGEST_IDLE_TIMEOUT = 86_400

      # Makes one and starts it; with a block, stops it at the block's end.
      #
      # @return [Server] or the block's value
      def self.start(**options)
        server = new(**options).start
        return server unless block_given?
        begin
          yield server
        ensure
          server.stop
        end
      end

      # @param host [String, Array<String>, nil] addresses to listen on; nil: none but the path
      # @param port [Integer] 0: any free one, see {#port}
      # @param path [String, nil] a UNIX socket to listen on; then TCP is listened on only if a host is named
      # @param mode [Integer] who may use the UNIX socket
      # @param memory [Integer] bytes that all items together may take; the least used ones go when it is full
      # @param max_connections [Integer] one more is told "ERROR Too many open connections"; at most 60,000
      # @param value_limit [Integer] bytes of one item, its key and a header of some 60 bytes included
      # @param idle_timeout [Integer] seconds after which a connection is closed that neither asks nor takes anything; 0: never
      # @param verbosity [Integer] 2: write each command to stderr
      def initialize(host: nil, port: 0, path: nil, mode: 0o700, memory: 64 << 20, max_connections: 1024, value_limit: 1 << 20,
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

      # @return [String, nil] the UNIX socket
      attr_reader :path

      # @return [Integer, nil] the TCP port, once it runs; nil without one
      attr_reader :port

      # @return [Array<String>] what it listens on: "127.0.0.1:11211", "[::1]:11211", "/run/memcached.sock"
      def addresses
        tcp = if port
          @hosts.map { |host| "#{host.include?(":") ? "[#{host}]" : host}:#{port}" }
        else
          []
        end
        (running? && path) ? [*tcp, path] : tcp
      end

      # Listens, and serves until {#stop} or until the reactor stops. An open server keeps `Pelton.run` going. Outside of
      # `Pelton.run` it runs in a thread of its own.
      #
      # @raise [ConnectionError] when an address is in use or not ours
      # @return [self]
      def start
        if Reactor.running? || running?
          begin_to_serve
        else
          @thread = ServerThread.start { begin_to_serve }
        end
        self
      end

      # Runs a reactor for this server alone, until it is stopped. The block, if given, is called with the server once it
      # listens.
      #
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

      # Answers what clients have asked by now, closes all connections and forgets all items. Legal when it does not run,
      # and from any thread.
      def stop
        running? ? ServerThread.call(@reactor) { close } : close
        @thread&.join
        @thread = nil
      end

      # What it holds and has counted, in memcached's names.
      #
      # @return [Hash{Symbol => Integer}]
      # @raise [ClosedError] when it does not run
      def stats = running? ? ServerThread.call(@reactor) { _stats } : _stats

      private

      def check
        raise ArgumentError, "memory must be at least 1 MB, not #{@memory}" if @memory < 1 << 20
        raise ArgumentError, "max_connections must be 1 to 60,000, not #{@max_connections}" unless (1..60_000).cover?(@max_connections)
        raise ArgumentError, "idle_timeout must be 0 to #{LONGEST_IDLE_TIMEOUT} seconds, not #{@idle_timeout}" unless (0..LONGEST_IDLE_TIMEOUT).cover?(@idle_timeout)
        return if (SMALLEST_VALUE_LIMIT..[LARGEST_VALUE_LIMIT, @memory].min).cover?(@value_limit)
        raise ArgumentError, "value_limit must be 1 KB to 1 GB, and no more than memory, not #{@value_limit}"
      end

      def begin_to_serve
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
          take(Pelton.listen(host, port)) { |listener| port = listener.port }
          @port = port
        end
        listen_unix if path
        _describe(port, @hosts.join(","), path.to_s)
      end

      # The socket must never be there with another mode, not even for a moment.
      def listen_unix
        before = File.umask(0o777 & ~@mode)
        take(Pelton.listen_unix(path))
        @socket = [Process.pid, File.stat(path).ino]
      ensure
        File.umask(before)
      end

      # Neither the parent's nor somebody else's who has taken the place.
      def remove_socket
        File.unlink(path) if @socket && @socket == [Process.pid, File.stat(path).ino]
      rescue Errno::ENOENT
        nil
      ensure
        @socket = nil
      end

      def take(listener)
        yield listener if block_given?
        _listen(listener.fileno)
      ensure
        listener.close
      end
    end
  end
end
