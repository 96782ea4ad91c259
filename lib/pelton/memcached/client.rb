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
  # Clients of memcached.
  module Memcached
    # The server answered with an error. The connection stays in use, unless the server could not make sense of what it was
    # sent.
    class ServerError < Error
    end

    # The key cannot be sent to memcached.
    class KeyError < Error
    end

    # A client of one memcached server or of several. All fibers of a thread share one pipelined connection to a server;
    # what they ask for in one tick goes out in one write. Other threads, and a child after a fork, get connections of
    # their own.
    #
    # Each command has three styles. Without a block it parks the fiber until the reply is there, or blocks where no
    # reactor runs, and returns the value. With a block it returns a Deferrable at once, and the block gets the value
    # later. `client.later` returns the Deferrable alone. ({#fetch} and {#cas} are the exceptions: their blocks are what
    # they need.) Errors are raised, or given to errbacks: {TimeoutError}, {ConnectionError}, {DownError}, {ServerError},
    # {ValueError}, {OverloadError}. What is the program's own mistake is raised at once in every style: a key that cannot
    # be sent ({KeyError}), wrong arguments, a client that is closed ({ClosedError}).
    #
    # All commands take `timeout:`, the seconds that this operation alone may take: when they are over it fails with
    # {TimeoutError}, and its reply is dropped when it comes. A key is a String or a Symbol of 1 to 250 bytes, the
    # namespace included, without spaces and control characters.
    #
    # `ttl:` is in seconds, rounded up; nil or 0: no end; negative: over at once. More than 30 days are sent as the date
    # that memcached wants; what would end after 2038 has no end.
    #
    # Without `serializer:` and `compress:` values are Strings: their bytes are stored, and come back binary. With them
    # {Value} tells what becomes of a value, and `raw: true` keeps it out.
    class Client
      include Decoding
      include Fetch
      include Update

      # Operations that may be owed by a connection before direct style waits; callbacks get {OverloadError} beyond twice
      # as many.
      MAX_OPERATIONS = 500_000
      # Bytes that may be queued, likewise.
      MAX_BYTES = 256 << 20

      # Connects when it is first used.
      #
      # @param servers [String, Address, Array<String, Address>] "host:port", "host", "host:port:weight",
      #   "[ipv6]:port", or the path of a UNIX socket. nil: those of the environment's MEMCACHE_SERVERS, or, without them,
      #   an embedded {Server}, which this process's clients share
      # @param timeout [Numeric, nil] seconds. An operation's time counts from its start or from its connection's last
      #   progress, whichever is later; a connection that owes replies and makes no progress for so long is closed, and
      #   fails them with {TimeoutError}. nil waits for ever.
      # @param connect_timeout [Numeric] seconds
      # @param namespace [String, Symbol, nil] what every key begins with
      # @param serializer [#dump, #load, nil] see {Value}; Marshal runs what the server's bytes say
      # @param compress [Boolean, Integer] bytes from which values are compressed; true: {Value::THRESHOLD}
      # @param inflate_limit [Integer] bytes to which a value may be inflated
      # @param protocol [Symbol, nil] :meta or :classic (memcached before 1.6); nil: each server is asked once a connection
      # @param hash [Symbol] see {HashRing}, also for `points`
      # @param connections [Integer] to each server, for each thread. All commands for a key take the same one, so that they
      #   keep their order. More than one helps where large values keep small ones waiting, or a server has several threads.
      # @param failover [Boolean] whether the keys of a server that is down belong to the others until it is back.
      #   Otherwise they fail. A server that was only out of reach still has its old values when it comes back.
      # @param failure_limit [Integer] connections to a server, one after the other, that fail or end without a reply: then
      #   it counts as down, and its operations fail at once ({DownError}) or go elsewhere
      # @param retry_after [Numeric] seconds after which a server that is down is asked again
      # @param tls [TLS::Context, Hash, Boolean, nil] has TCP connections speak TLS: as {Pelton.connect} takes it
      # @param instrument [#call, nil] is called with each command's name (Symbol) and its key (a String without the
      #   namespace, an Array of keys, or nil) when it begins. What it returns, unless that is nil, is called at the end,
      #   with the value and the error, one of which is nil. {Notifications} tells ActiveSupport.
      # @param max_operations [Integer]
      # @param max_bytes [Integer]
      # @raise [ArgumentError]
      def initialize(servers = nil, timeout: 1, connect_timeout: timeout || 5, namespace: nil,
        serializer: nil, compress: false, inflate_limit: Value::INFLATE_LIMIT, hash: :md5, points: :weighted,
        connections: 1, failover: true, failure_limit: 3, retry_after: 1, instrument: nil, protocol: nil,
        max_operations: MAX_OPERATIONS, max_bytes: MAX_BYTES, tls: nil)
        {timeout: timeout || 1, connect_timeout: connect_timeout, failure_limit: failure_limit, retry_after: retry_after,
         connections: Integer(connections), max_operations: max_operations, max_bytes: max_bytes}.each do |name, value|
          raise ArgumentError, "#{name}: is more than 0, not #{value}" unless value.positive?
        end
        raise ArgumentError, "protocol: is :meta, :classic or nil" unless [nil, :meta, :classic].include?(protocol)
        ring = HashRing.new(servers || DefaultServers.addresses, hash: hash, points: points)
        raise ArgumentError, "a server is listed twice" if ring.servers.map(&:to_s).uniq!
        tls = TLS::Context.new(**tls) if tls.is_a?(Hash)
        nodes = ring.servers.map do |address|
          Node.new(address, timeout: timeout, connect_timeout: connect_timeout, failure_limit: failure_limit,
            retry_after: retry_after, operations: Integer(max_operations), bytes: Integer(max_bytes), protocol: protocol,
            lanes: Integer(connections), tls: tls)
        end
        @servers = Servers.new(nodes, ring, failover) { |used, places| _use(used, places) }
        @value = Value.new(serializer: serializer, compress: compress, inflate_limit: inflate_limit) if serializer || compress
        _set_up(nodes.size, Integer(connections), namespace && -namespace.to_s, @value, instrument)
        @servers.use_all if nodes.size > 1
      end

      # @return [Array<Address>]
      def servers = @servers.addresses

      # @return [Address] the first server's
      def server = servers.first

      # @!group Reading

      # @!method get(key, raw: false, timeout: nil)
      #   @return [String, Object, nil] nil when the key is absent
      #   @asynchronous
      # @!method gets(key, raw: false, timeout: nil)
      #   @return [Array(Object, Integer), nil] the value, and the number that `cas:` of {#set} and {#delete} takes
      #   @asynchronous
      # @!method gat(key, ttl:, raw: false, timeout: nil)
      #   Gets the value and gives it a new ttl.
      #   @return [String, Object, nil]
      #   @asynchronous
      # @!method item(key, recache: nil, raw: false, timeout: nil)
      #   The value and what else the server knows of it.
      #   @param recache [Integer, nil] seconds. Of those who ask for an item that ends within so many, the first one is
      #     told to make it anew ({Item#won}).
      #   @return [Item, nil]
      #   @asynchronous
      # @!method stream(key, timeout: nil)
      #   A large value that goes on to somebody else, such as a browser, without being received here: as soon as its
      #   length is known. Its bytes are those that are stored; a serializer or compression does not apply.
      #   @param timeout [Numeric, nil] seconds until it begins; for the rest the client's counts
      #   @return [ValueStream, nil] nil when the key is absent
      #   @asynchronous
      # @!method get_multi(*keys, partial: false, raw: false, timeout: nil)
      #   The values of many keys, in one operation. (A list may be given as one Array.)
      #   @param partial [Boolean] where a server fails, its keys count as absent. (`timeout:` is the whole operation's.)
      #   @return [Hash] without those that are absent
      #   @raise what one of them fails with, when all are done
      #   @asynchronous

      # @!group Storing

      # @!method set(key, value, ttl: nil, flags: nil, cas: nil, raw: false, timeout: nil)
      #   @param flags [Integer] 32 bits that are kept with the value; two are taken when there is a serializer or
      #     compression
      #   @param cas [Integer] from {#gets}: store only what nobody has stored since
      #   @return [Boolean] whether it was stored
      #   @asynchronous
      # @!method add(key, value, ttl: nil, flags: nil, raw: false, timeout: nil)
      #   Stores it unless the key is there.
      #   @return [Boolean]
      #   @asynchronous
      # @!method replace(key, value, ttl: nil, flags: nil, raw: false, timeout: nil)
      #   Stores it if the key is there.
      #   @return [Boolean]
      #   @asynchronous
      # @!method append(key, string, timeout: nil)
      #   Adds bytes to a raw value's end.
      #   @return [Boolean] whether it was there
      #   @asynchronous
      # @!method prepend(key, string, timeout: nil)
      #   Adds bytes to a raw value's beginning.
      #   @return [Boolean] whether it was there
      #   @asynchronous
      # @!method set_multi(hash, ttl: nil, flags: nil, raw: false, timeout: nil)
      #   Stores many values, in one operation.
      #   @return [Integer] how many were stored
      #   @raise what one of them fails with, when all are done
      #   @asynchronous

      # @!group Changing

      # @!method delete(key, cas: nil, timeout: nil)
      #   @return [Boolean] whether it was there (and, with `cas:`, still the same)
      #   @asynchronous
      # @!method delete_multi(*keys, timeout: nil)
      #   @return [Integer] how many were there
      #   @raise what one of them fails with, when all are done
      #   @asynchronous
      # @!method touch(key, ttl:, timeout: nil)
      #   Gives it a new ttl.
      #   @return [Boolean] whether it was there
      #   @asynchronous
      # @!method incr(key, by = 1, initial: nil, ttl: nil, timeout: nil)
      #   Adds to a raw value that is a number, modulo 2**64.
      #   @param initial [Integer, nil] what a counter that is absent begins with, for `ttl:` seconds
      #   @return [Integer, nil] what it is now; nil when it is absent
      #   @raise [ServerError] when the value is no number
      #   @asynchronous
      # @!method decr(key, by = 1, initial: nil, ttl: nil, timeout: nil)
      #   Takes away, down to 0.
      #   @return [Integer, nil]
      #   @raise [ServerError]
      #   @asynchronous

      # @!group Servers

      # @!method version(timeout: nil)
      #   @return [String] the first server's
      #   @asynchronous
      # @!method versions(timeout: nil)
      #   @return [Hash{String => String}] by the servers' addresses
      #   @asynchronous
      # @!method stats(what = nil, timeout: nil)
      #   @param what [String, Symbol, nil] "items", "slabs", "settings", "reset" ...
      #   @return [Hash{String => Hash{String => String}}] by the servers' addresses
      #   @asynchronous
      # @!method flush_all(delay: 0, timeout: nil)
      #   Empties all servers.
      #   @param delay [Integer] seconds until then
      #   @return [true]
      #   @asynchronous

      # @!endgroup

      # @!method later
      #   @return [Later] the same commands, each returning its Deferrable

      # Closes the connections of all threads. What they owe fails with {ClosedError}; so does every later command.
      def close
        @servers.close
        nil
      end

      # @return [String]
      def inspect = "#<#{self.class} #{servers.join(" ")}>"

      private

      # Called by the commands, in C, when the last connection to the server at this place cannot be used. nil: the keys
      # belong to other servers now.
      def connection(...) = @servers.connection(...)

      # Called by the commands, in C, while not all servers are in use, when it is time to ask one again.
      def look_again = @servers.look_again
    end
  end
end
