# frozen_string_literal: true

require_relative "../../pelton"
require_relative "decoding"
require_relative "default_servers"
require_relative "fetch"
require_relative "later"
require_relative "servers"
require_relative "update"
require_relative "value"
require_relative "value_stream"

module Pelton
  public_constant :Memcached

  # Clients of memcached.
  module Memcached
    # The server answered with an error. The connection stays in use, unless the server could not parse the command.
    class ServerError < Error
    end

    # The key cannot be sent to memcached.
    class InvalidKeyError < Error
    end

    # A client of one memcached server or of several. All fibers of a thread share one pipelined connection to a server,
    # and all commands of one tick leave in one write. Other threads, and a child after a fork, get connections of their
    # own.
    #
    # The servers are memcached 1.6.10 or later, since the client speaks the meta protocol. Each connection asks first,
    # and sends nothing else to a server that does not speak it ({ProtocolError}).
    #
    # Each command has three styles. Without a block it parks the fiber until the reply has come, or blocks where no
    # reactor runs, and returns the value. With a block it returns a Deferrable at once, and the block gets the value
    # later. `client.later` returns the Deferrable alone. ({#fetch} and {#cas} are the exceptions: they need their
    # blocks to compute values.) Errors are raised, or given to errbacks: {TimeoutError}, {ConnectionError},
    # {DownError}, {ServerError}, {ValueError}, {OverloadError}. Mistakes of the program are raised at once in every
    # style: a key that cannot be sent ({InvalidKeyError}), wrong arguments, a closed client ({ClosedError}).
    #
    # All commands take `timeout:`, the limit of this operation alone in seconds from its start, whatever else flows on
    # the connection. Beyond it the operation fails with {TimeoutError}, and a late reply is dropped. A key is a String
    # or a Symbol of 1 to 250 bytes, the namespace included, without spaces and control characters.
    #
    # `ttl:` is in seconds, rounded up. An item with nil or 0 never expires; a negative number lets it expire at once.
    # memcached takes more than 30 days for a date, so the client sends a date then. An item that would expire after
    # 2038 never expires.
    #
    # Without `serializer:` and `compress:` values are Strings: their bytes are stored, and come back as binary Strings.
    # With them {Value} converts values, and `raw: true` bypasses it.
    class Client
      include Decoding
      include Fetch
      include Update

      # Pending operations of a connection, beyond which direct style waits. Callback style gets {OverloadError} beyond
      # twice as many.
      MAX_OPERATIONS = 500_000
      # Queued bytes of a connection, with the same two limits.
      MAX_BYTES = 256 << 20

      # The client connects when it is first used.
      #
      # @param servers [String, Address, Array<String, Address>] "host:port", "host", "host:port:weight",
      #   "[ipv6]:port", or the path of a UNIX socket. nil: the servers in the environment's MEMCACHE_SERVERS, or else
      #   an embedded {Server}, which all such clients of this process share
      # @param timeout [Numeric, nil] seconds. An operation's time counts from its start or from its connection's last
      #   progress, whichever is later. A connection that makes no progress for so long while replies are pending is
      #   closed, and its operations fail with {TimeoutError}. nil waits for ever.
      # @param connect_timeout [Numeric] seconds
      # @param namespace [String, Symbol, nil] the prefix of every key
      # @param serializer [#dump, #load, nil] see {Value}; Marshal executes code that the server's bytes contain
      # @param compress [Boolean, Integer] the size in bytes from which values are compressed; true: {Value::THRESHOLD}
      # @param inflate_limit [Integer] bytes; a value that inflates to more fails with {ValueError}
      # @param hash [Symbol] see {HashRing}, also for `points`
      # @param connections [Integer] the number of connections to each server, for each thread. All commands for a key
      #   use the same one, so they keep their order. More than one helps where large values delay small ones, or where
      #   a server has several threads.
      # @param failover [Boolean] whether the keys of a server that is down belong to the others until it is back.
      #   Otherwise their operations fail. A server that was only unreachable still has its old values when it comes
      #   back.
      # @param failure_limit [Integer] the number of connections in a row that fail or end without a reply, after which
      #   a server counts as down: its operations fail at once ({DownError}) or go to other servers
      # @param retry_after [Numeric] seconds after which the client asks a server that is down again
      # @param tls [TLS::Context, Hash, Boolean, nil] TLS for TCP connections, as {Pelton.connect} takes it
      # @param max_operations [Integer] see {Client::MAX_OPERATIONS}
      # @param max_bytes [Integer] see {Client::MAX_BYTES}
      # @raise [ArgumentError] an address or an option is invalid, or a server is listed twice
      def initialize(servers = nil, timeout: 1, connect_timeout: timeout || 5, namespace: nil,
        serializer: nil, compress: false, inflate_limit: Value::INFLATE_LIMIT, hash: :md5, points: :weighted,
        connections: 1, failover: true, failure_limit: 3, retry_after: 1,
        max_operations: MAX_OPERATIONS, max_bytes: MAX_BYTES, tls: nil)
        {timeout: timeout || 1, connect_timeout: connect_timeout, failure_limit: failure_limit,
         retry_after: retry_after,
         connections: connections, max_operations: max_operations, max_bytes: max_bytes}.each do |name, value|
          unless value.is_a?(Numeric) && value.positive?
            raise ArgumentError, "#{name}: must be a number of more than 0, not #{value.inspect}"
          end
        end
        ring = HashRing.new(servers || DefaultServers.addresses, hash: hash, points: points)
        raise ArgumentError, "a server is listed twice" if ring.servers.map(&:to_s).uniq!
        tls = TLS::Context.new(**tls) if tls.is_a?(Hash)
        nodes = ring.servers.map do |address|
          Node.new(address, timeout: timeout, connect_timeout: connect_timeout, failure_limit: failure_limit,
            retry_after: retry_after, operations: Integer(max_operations), bytes: Integer(max_bytes),
            slots: Integer(connections), tls: tls)
        end
        @servers = Servers.new(nodes, ring, failover) { |used, indexes| _use(used, indexes) }
        if serializer || compress
          @value = Value.new(serializer: serializer, compress: compress, inflate_limit: inflate_limit)
        end
        _set_up(nodes.size, Integer(connections), namespace && -namespace.to_s, @value)
        @servers.use_all if nodes.size > 1
      end

      # @return [Array<Address>]
      def servers = @servers.addresses

      # @return [Address] the address of the first server
      def server = servers.first

      # @!group Reading

      # @!method get(key, raw: false, timeout: nil)
      #   @return [String, Object, nil] nil when the key is absent
      #   @asynchronous
      # @!method gets(key, raw: false, timeout: nil)
      #   @return [Array(Object, Integer), nil] the value, and the number for `cas:` of {#set} and {#delete}
      #   @asynchronous
      # @!method gat(key, ttl:, raw: false, timeout: nil)
      #   Gets the value and gives it a new ttl.
      #   @return [String, Object, nil]
      #   @asynchronous
      # @!method item(key, recache: nil, raw: false, timeout: nil)
      #   Gets the value together with its flags, cas number and remaining ttl.
      #   @param recache [Integer, nil] seconds. Among the callers who ask for an item that expires within so many
      #     seconds, the first one gets {Item#won} and should compute it again.
      #   @return [Item, nil]
      #   @asynchronous
      # @!method stream(key, timeout: nil)
      #   Gets a large value that is passed on to another connection, such as a browser's, without being received here.
      #   It returns as soon as the length is known. The bytes are the stored ones: serializer and compression do not
      #   apply.
      #   @param timeout [Numeric, nil] seconds until the value begins; the client's timeout applies to the rest
      #   @return [ValueStream, nil] nil when the key is absent
      #   @asynchronous
      # @!method get_multi(*keys, partial: false, raw: false, timeout: nil)
      #   Gets the values of many keys in one operation. The keys may be given as one Array.
      #   @param partial [Boolean] whether the keys of a server that fails count as absent
      #   @param timeout [Numeric, nil] seconds for the whole operation
      #   @return [Hash] without the absent keys
      #   @raise the error of a server that failed, when all servers are done
      #   @asynchronous

      # @!group Storing

      # @!method set(key, value, ttl: nil, flags: nil, cas: nil, raw: false, timeout: nil)
      #   @param flags [Integer] 32 bits that are stored with the value; a serializer or compression uses two of them
      #   @param cas [Integer] from {#gets}: store the value only if no other was stored since
      #   @return [Boolean] whether the value was stored
      #   @asynchronous
      # @!method add(key, value, ttl: nil, flags: nil, raw: false, timeout: nil)
      #   Stores the value unless the key is present.
      #   @return [Boolean] whether the value was stored
      #   @asynchronous
      # @!method replace(key, value, ttl: nil, flags: nil, raw: false, timeout: nil)
      #   Stores the value if the key is present.
      #   @return [Boolean] whether the value was stored
      #   @asynchronous
      # @!method append(key, string, timeout: nil)
      #   Adds bytes to the end of a raw value.
      #   @return [Boolean] whether they were added; false when the key is absent, or when the value would be too large
      #     (memcached answers both alike)
      #   @asynchronous
      # @!method prepend(key, string, timeout: nil)
      #   Adds bytes to the beginning of a raw value.
      #   @return [Boolean] as {#append}
      #   @asynchronous
      # @!method set_multi(hash, ttl: nil, flags: nil, raw: false, timeout: nil)
      #   Stores many values in one operation.
      #   @return [Integer] the number of stored values
      #   @raise the error of a server that failed, when all servers are done
      #   @asynchronous

      # @!group Changing

      # @!method delete(key, cas: nil, timeout: nil)
      #   @return [Boolean] whether the key was present (and, with `cas:`, the value unchanged)
      #   @asynchronous
      # @!method delete_multi(*keys, timeout: nil)
      #   @return [Integer] the number of keys that were present
      #   @raise the error of a server that failed, when all servers are done
      #   @asynchronous
      # @!method touch(key, ttl:, timeout: nil)
      #   Gives the item a new ttl.
      #   @return [Boolean] whether the key was present
      #   @asynchronous
      # @!method incr(key, by = 1, initial: nil, ttl: nil, timeout: nil)
      #   Adds to a raw value that is a number, modulo 2**64.
      #   @param initial [Integer, nil] the first value of an absent counter, which then lives for `ttl:` seconds
      #   @return [Integer, nil] the new value; nil when the key is absent
      #   @raise [ServerError] the value is not a number
      #   @asynchronous
      # @!method decr(key, by = 1, initial: nil, ttl: nil, timeout: nil)
      #   Subtracts, down to 0.
      #   @return [Integer, nil] the new value; nil when the key is absent
      #   @raise [ServerError] the value is not a number
      #   @asynchronous

      # @!group Servers

      # @!method version(timeout: nil)
      #   @return [String] the first server's version
      #   @asynchronous
      # @!method versions(timeout: nil)
      #   @return [Hash{String => String}] versions by the servers' addresses
      #   @asynchronous
      # @!method stats(what = nil, timeout: nil)
      #   @param what [String, Symbol, nil] "items", "slabs", "settings", "reset" ...
      #   @return [Hash{String => Hash{String => String}}] statistics by the servers' addresses
      #   @asynchronous
      # @!method flush_all(delay: 0, timeout: nil)
      #   Empties all servers.
      #   @param delay [Integer] seconds until then
      #   @return [true]
      #   @asynchronous

      # @!endgroup

      # @!method later
      #   @return [Later] the same commands, each returning its Deferrable

      # Closes the connections of all threads. Pending operations fail with {ClosedError}, and so does every later
      # command.
      def close
        @servers.close
        nil
      end

      # @return [String]
      def inspect = "#<#{self.class} #{servers.join(" ")}>"

      private

      # For when the last connection to a server cannot be used. nil: the keys belong to other servers now.
      def connection(...) = @servers.connection(...)

      # For when not all servers are in use, and it is time to ask one again.
      def recheck_servers = @servers.recheck

      Pelton.register_upcalls(find_connection: instance_method(:connection),
        recheck_servers: instance_method(:recheck_servers))
    end
  end
end
