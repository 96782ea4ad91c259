# frozen_string_literal: true

require_relative "../../pelton"
require_relative "node"

module Pelton
  # Clients of memcached.
  module Memcached
    # The server answered with an error. The connection stays in use, unless the server could not make sense of what it was
    # sent.
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
    # {TimeoutError}, {ConnectionError}, {ServerError}, {OverloadError}. What is the program's own mistake is raised at
    # once in every style: a key that cannot be sent ({KeyError}), wrong arguments, a client that is closed
    # ({ClosedError}).
    class Client
      # Operations that may be owed before direct style waits; callbacks get {OverloadError} beyond twice as many.
      MAX_OPERATIONS = 500_000
      # Bytes that may be queued, likewise.
      MAX_BYTES = 256 << 20

      # Connects when it is first used.
      #
      # @param server [String, Address] "host:port", "host", "[ipv6]:port", or the path of a UNIX socket
      # @param timeout [Numeric, nil] seconds. An operation's time counts from its start or from its connection's last
      #   progress, whichever is later; a connection that owes replies and makes no progress for so long is closed, and
      #   fails them with {TimeoutError}. nil waits for ever.
      # @param connect_timeout [Numeric] seconds
      # @param max_operations [Integer]
      # @param max_bytes [Integer]
      # @raise [ArgumentError]
      def initialize(server = "127.0.0.1:11211", timeout: 1, connect_timeout: timeout || 5,
        max_operations: MAX_OPERATIONS, max_bytes: MAX_BYTES)
        positive = {timeout: timeout || 1, connect_timeout: connect_timeout, max_operations: max_operations, max_bytes: max_bytes}
        positive.each { |name, value| raise ArgumentError, "#{name}: is more than 0, not #{value}" unless value.positive? }
        @node = Node.new(Address.parse(server), timeout: timeout, connect_timeout: connect_timeout,
          operations: Integer(max_operations), bytes: Integer(max_bytes))
      end

      # @return [Address]
      def server = @node.address

      # @!method get(key, timeout: nil)
      #   @param key [String, Symbol] 1 to 250 bytes, without spaces and control characters
      #   @param timeout [Numeric, nil] seconds, for this operation alone: when they are over it fails with
      #     {TimeoutError}, and its reply is dropped when it comes
      #   @return [String, nil] binary; nil when the key is absent
      #   @asynchronous
      # @!method set(key, value, ttl: nil, timeout: nil)
      #   @param value [String] its bytes
      #   @param ttl [Numeric, nil] seconds, rounded up; nil or 0: no end; negative: over at once. More than 30 days are sent
      #     as the date that memcached wants; what would end after 2038 has no end.
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

      # Closes the connections of all threads. What they owe fails with {ClosedError}; so does every later command.
      def close
        @node.close
        nil
      end

      # @return [String]
      def inspect = "#<#{self.class} #{server}>"

      private

      # Called by the commands, in C, when the last one cannot be used.
      def connection(in_place) = @node.connection(in_place)
    end
  end
end
