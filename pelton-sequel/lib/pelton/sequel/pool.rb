# frozen_string_literal: true

require_relative "driver"
require_relative "error"
require_relative "limit"
require_relative "queries"
require_relative "routing"

module Pelton
  module Sequel
    # The connections to a database. A fiber or thread holds one for a query or a transaction. If none is free, it waits
    # its turn, in order.
    #
    # Called by Sequel; `DB.stats` shows its counters.
    class Pool < ::Sequel::ConnectionPool
      include Opaque
    end
  end
end

require_relative "pool/leaks"
require_relative "pool/shard"

module Pelton
  module Sequel
    class Pool
      CHECK_TIMEOUT = 1 # seconds for a connection that was idle to answer
      NO_SHARDS = "Pelton's pool knows the servers :default and :read_only. A shard is a database of its own: " \
        "connect to each, and use `Album.with_dataset`, or a model for each (Sequel::Model(SHARD[:albums]))"
      private_constant :NO_SHARDS

      # Replaces the pool of a database.
      #
      # @param database [Sequel::Database]
      def self.install(database)
        unless database.pool.is_a?(self)
          database.disconnect
          database.instance_exec { @pool = Pool.new(self, opts) }
        end
        database.pool.driver.adapt(database)
        database.extend(Queries)
        database.extend_datasets(Routing) if database.sharded?
      end

      # @return [Float] seconds to wait for a connection, and for a new one to open
      attr_reader :timeout

      # @return [Driver]
      attr_reader :driver

      def initialize(db, options = ::Sequel::OPTS)
        super
        @timeout = Float(options[:pool_timeout] || 5)
        @driver = options[:driver] || Driver.for(db)
        @driver.database = db
        max_idle = Float(options[:max_idle] || 300)
        max = options[:max_connections] || 4
        @shards = {default: max}.merge(options[:servers].to_h.transform_values { max },
          options[:server_sizes] || {}).to_h do |name, size|
          [name, Shard.new(self, name, Integer(size), @timeout, max_idle)]
        end
        refuse_shards
        @default = @shards.fetch(:default)
        @slots = {}.compare_by_identity # connection => Slot
        @leaks = Leaks.new(self, @driver.name, Float(options[:leak_after])) if options[:leak_after]
        @pid = Process.pid
        @replicas = options[:replicas]
        @sticky = options[:sticky]
        @mark = :"pelton_database_wrote_#{object_id}" # a fiber-local
      end

      # Yields a connection that the fiber holds until the block ends. Nested calls yield the same one.
      #
      # @param server [Symbol] :default, or :read_only
      # @raise [ConfigurationError] for a server that is given by its options (arbitrary_servers)
      # @raise [PoolTimeoutError] if none comes free in {#timeout}
      # @asynchronous
      def hold(server = :default)
        forget unless @pid == Process.pid
        fiber = Fiber.current
        raise ConfigurationError, NO_SHARDS if server.is_a?(Hash)
        slot = @default.held[fiber] # reads in a transaction must see its writes
        return yield(slot.connection) if slot&.connection
        shard = @shards[server] || @default
        if shard.equal?(@default)
          Thread.current[@mark] = Clock.now if @sticky
        elsif sticky?
          shard = @default
        else
          slot = shard.held[fiber]
          return yield(slot.connection) if slot&.connection
        end
        slot = take(shard, fiber)
        @leaks&.watch
        begin
          yield slot.connection
        rescue ::Sequel::DatabaseDisconnectError, *@error_classes => error
          lost(slot) if disconnect_error?(error)
          raise
        ensure
          slot.shard.give(slot)
        end
      end

      # Yields a certain idle connection, held by this fiber.
      # @private
      def borrow(slot)
        slot.shard.borrow(slot, Fiber.current)
        yield
      ensure
        slot.shard.give(slot) if slot.fiber.equal?(Fiber.current)
      end

      # Whether the fiber must read from the primary, because it has used it recently and replicas lag.
      def sticky?
        wrote = Thread.current[@mark] if @sticky
        !wrote.nil? && Clock.now - wrote < @sticky
      end

      # @return [Boolean] whether a fiber holds a connection
      def held_by?(fiber)
        @default.held.key?(fiber) || (@shards.size > 1 && @shards.any? { |_, shard| shard.held.key?(fiber) })
      end

      # @return [Slot, nil] a connection's place; nil while it is being opened
      def slot_of(connection) = @slots[connection]

      # @return [Array<Symbol>]
      def servers = @shards.keys

      # @return [Integer] connections
      def size(server = :default) = (@shards[server] || @default).size

      # @return [Integer] connections at most
      def max_size(server = :default) = (@shards[server] || @default).max

      # @return [Hash{Symbol => Object}] the sums of all servers, and who holds connections
      def stats
        each = @shards.transform_values(&:stats)
        sum = each.values.reduce { |one, other| one.merge(other) { |_, mine, theirs| mine + theirs } }
        {pool: (each.size > 1) ? sum.merge(servers: each) : sum, held: @shards.values.flat_map(&:holders)}
      end

      # @return [Symbol]
      def pool_type = :pelton

      # @return [Replicas, nil]
      attr_reader :replicas

      # @return [Hash{Symbol => Shard}]
      attr_reader :shards

      # Closes idle connections now, and those in use when they are given back.
      def disconnect(options = ::Sequel::OPTS)
        names = options[:server] ? Array(options[:server]) : servers
        names.each { |name| @shards.fetch(name).disconnect }
      end

      # Sequel's plugin sharding asks for the server of a name.
      # @private
      def pick_server(server) = @shards.key?(server) ? server : :default

      # Refuses Sequel's extensions for its own pools, such as server_block: they would have no effect, or fail at the
      # first query.
      def extend(*modules)
        foreign = modules.find { |one| one.name.to_s.start_with?("Sequel::") }
        return super unless foreign
        raise ConfigurationError, "#{foreign.name.split("::").last} is for Sequel's own pools. Pelton's checks idle " \
          "connections itself (max_idle:), and knows no shards: leave the extension out"
      end

      # Yields the fiber's connection.
      def all_connections(&block) = hold(&block)

      # The methods below are for {Shard}.
      # @private
      def open(slot, server)
        return open_replica(slot) if server != :default && @replicas
        connect(slot, server, @timeout, @driver.name)
      rescue ::Sequel::Error, *@error_classes, SystemCallError, IOError => error
        raise @driver.connection_error(error)
      end

      # @private
      def usable?(connection)
        replica = @slots[connection]&.replica
        Pelton::Sequel.limit(CHECK_TIMEOUT, ConnectionError, "no answer") do
          @driver.usable?(connection) && (replica.nil? || @driver.answers?(connection))
        end
      rescue ConnectionError
        false
      end

      # @private
      def close(connection)
        @slots.delete(connection)
        disconnect_connection(connection)
      end

      # Closes a slot's connection, after cancelling its query at the server, and then calls the block. The caller does
      # not wait.
      #
      # @private
      def discard(slot)
        @slots.delete(slot.connection)
        @driver.discard(slot) { yield }
      end

      # @private
      # @return [Object] a connection outside of the pool, to the server of a slot
      # @asynchronous
      def connect_beside(slot)
        return @db.connect(slot.shard.name) unless slot.replica
        @replicas.at(slot.replica) { @db.connect(slot.shard.name) }
      end

      # Called when a connection was lost, or its holder ended without giving it back.
      # @private
      def lost(slot)
        slot.spoiled = true
        @replicas.failed(slot.replica) if slot.replica
        if slot.fiber&.alive?
          slot.shard.distrust(slot)
        else
          Pelton.logger.warn("a fiber ended without giving its database connection back: it is closed")
          close(slot.connection) if slot.connection
        end
      end

      private

      def refuse_shards
        others = @shards.keys - %i[default read_only]
        raise ConfigurationError, "#{others.map(&:inspect).join(", ")}: #{NO_SHARDS}" if others.any?
      end

      # Falls back to the primary if no replica answers.
      def take(shard, fiber)
        return shard.take(fiber) if shard.equal?(@default) || @replicas.nil? || !@replicas.fallback
        return @default.take(fiber) unless shard.idle.positive? || @replicas.any_up?
        shard.take(fiber)
      rescue ConnectionError => error
        raise if shard.equal?(@default) || !@replicas&.fallback
        Pelton.logger.warn("#{error.message}. The primary answers in its place")
        @default.take(fiber)
      end

      def connect(slot, server, timeout, name)
        slot.connection = Pelton::Sequel.limit(timeout, ConnectionError,
          "#{name}: no connection within #{timeout.round(2)} s") do
          @db.new_connection(server).tap { |connection| @driver.opened(connection) }
        end
        slot.opened = Clock.now
        @slots[slot.connection] = slot
      end

      # Tries each replica, then the primary, within the time for one connection.
      def open_replica(slot)
        tries ||= 0
        index = @replicas.choose
        connect(slot, :read_only, @timeout / (@replicas.size + (@replicas.fallback ? 1 : 0)), @replicas.name(index))
        @replicas.answered(slot.replica = index)
      rescue ::Sequel::Error, *@error_classes, SystemCallError, IOError, ConnectionError => error
        @replicas.failed(index)
        retry if (tries += 1) < @replicas.size
        raise error.is_a?(ConnectionError) ? error : @driver.connection_error(error, @replicas.name(index))
      end

      def forget
        @pid = Process.pid
        @driver.forget(@shards.each_value.flat_map(&:forget))
        @slots.clear
        @leaks&.forget
      end
    end
  end
end
