# frozen_string_literal: true

module Pelton
  # Clients of memcached.
  module Memcached
    DEFAULT_PORT = 11211

    # The server answered with an error. The connection stays in use.
    class ServerError < Error
    end

    # The key cannot be sent to memcached.
    class KeyError < Error
    end

    # A client of a memcached server. All fibers of a thread share one pipelined connection; what they ask for in one
    # tick goes out in one write. Other threads, and a child after a fork, get connections of their own.
    #
    # Each command has three styles. Without a block it parks the fiber until the reply is there, or blocks where no
    # reactor runs, and returns the value. With a block it returns a Deferrable at once, and the block gets the value
    # later. `client.later` returns the Deferrable alone. Errors are raised, or given to errbacks:
    # {TimeoutError}, {ConnectionError}, {ServerError}, {OverloadError}; a key that cannot be sent raises {KeyError} at
    # once in every style.
    class Client
      # Operations that may be owed before direct style waits; callbacks get {OverloadError} beyond twice as many.
      MAX_OPERATIONS = 500_000
      # Bytes that may be queued, likewise.
      MAX_BYTES = 256 << 20

      # @param server [String] "host:port", "host", "[ipv6]:port", or the path of a UNIX socket
      # @param timeout [Numeric, nil] seconds. An operation's time counts from its start or from its connection's last
      #   progress, whichever is later; a connection that owes replies and makes no progress for so long is closed, and
      #   fails them with {TimeoutError}. nil waits for ever.
      # @param connect_timeout [Numeric] seconds
      def initialize(server = "127.0.0.1:11211", timeout: 1, connect_timeout: timeout || 5,
        max_operations: MAX_OPERATIONS, max_bytes: MAX_BYTES)
        @server = server
        @timeout = timeout
        @connect_timeout = connect_timeout
        @limits = [Integer(max_operations), Integer(max_bytes)]
        raise ArgumentError, "the limits must be positive" unless @limits.all?(&:positive?)
        @connections = {}.compare_by_identity
        @mutex = Thread::Mutex.new
        @closed = false
      end

      # @return [String] the server as it was given
      attr_reader :server

      # @!method get(key, timeout: nil)
      #   @return [String, nil] binary; nil when the key is absent
      #   @asynchronous
      # @!method set(key, value, ttl: nil, timeout: nil)
      #   @param ttl [Numeric, nil] seconds; more than 30 days are sent as a date, as memcached wants it; nil: no end
      #   @return [Boolean] whether it was stored
      #   @asynchronous
      # @!method delete(key, timeout: nil)
      #   @return [Boolean] whether it was there
      #   @asynchronous
      # @!method version(timeout: nil)
      #   @return [String] the server's
      #   @asynchronous
      # @!method later
      #   @return [Later] the same commands, each returning its Deferrable

      # Closes the connections of all threads. What they owe fails with {ClosedError}.
      def close
        @closed = true
        connections = @mutex.synchronize { @connections.values.tap { @connections.clear } }
        connections.each { |connection| connection._fail(ClosedError.new("the client was closed")) }
        nil
      end

      private

      # The connection of this thread's reactor, connected or connecting. Called by the commands when the last one cannot
      # be used.
      def connection
        raise ClosedError, "the client is closed" if @closed
        reactor = Reactor.current
        present = @mutex.synchronize { @connections[reactor] }
        return present if present && !present.closed?
        connection = Connection._new(@server, *@limits, @timeout)
        @mutex.synchronize do
          @connections.delete_if { |_, other| other.closed? }
          @connections[reactor] = connection
        end
        Pelton.running? ? Task.spawn { dial(connection) } : dial(connection)
        connection
      end

      # Commands gather in the connection's output meanwhile.
      def dial(connection)
        connection._attach(connect._detach)
      rescue Error => error
        connection._fail(error)
      rescue Cancelled => error
        connection._fail(ClosedError.new("the reactor stopped while connecting"))
        raise error
      end

      def connect
        return Pelton.connect_unix(@server, timeout: @connect_timeout) if @server.start_with?("/")
        host, port = Client.address(@server)
        Pelton.connect(host, port, timeout: @connect_timeout)
      end

      class << self
        # @private
        def address(server)
          match = /\A(?:\[(?<host>[^\]]+)\]|(?<host>[^:]+))(?::(?<port>\d{1,5}))?\z/.match(server) ||
            raise(ArgumentError, "a server is \"host:port\", not #{server.inspect}")
          [match[:host], Integer(match[:port] || DEFAULT_PORT)]
        end
      end
    end
  end
end
