# frozen_string_literal: true

require "pelton"
require "pelton/memcached"
require "active_support"
require "active_support/cache"
require "active_support/core_ext/enumerable"
require "active_support/core_ext/array/extract_options"
require "active_support/digest"

module ActiveSupport
  module Cache
    # A cache in memcached, by {Pelton::Memcached::Client}. A request that waits for memcached parks its fiber; a call
    # with many keys is one operation. All fibers and threads share the store, without a pool.
    #
    #     config.cache_store = :pelton_store, "10.0.0.1:11211", "10.0.0.2:11211", {expires_in: 1.day}
    #
    # It behaves like Rails' MemCacheStore, with the same keys, and needs memcached 1.6.10 or later. If a server fails,
    # reads count as misses and writes are dropped. The error goes to `Rails.error` and the log.
    #
    # The error of a limit around a call (Pelton.timeout, the server's `request_timeout`) is not rescued.
    class PeltonStore < Store
      prepend Strategy::LocalCache

      # Options for {Pelton::Memcached::Client}.
      CLIENT_OPTIONS =
        %i[timeout connect_timeout hash points connections failover failure_limit retry_after tls].freeze

      # Options of calls, whose defaults the store's options set. Rails before 7.2.3 does not include `raw` for every
      # store.
      CALL_OPTIONS = %i[raw force version unless_exist expires_at].freeze

      # Bytes; memcached's limit.
      MAX_KEY_SIZE = 250
      # Seconds for which an expired entry is kept for `race_condition_ttl`, as MemCacheStore does it.
      RACE_CONDITION_TIME = 300
      # Characters in Rails' keys that need no escape.
      PLAIN_KEY = /\A[!-$&-~]*\z/
      ESCAPED = /[\x00-\x20%\x7F-\xFF]/n
      private_constant :CALL_OPTIONS, :MAX_KEY_SIZE, :RACE_CONDITION_TIME, :PLAIN_KEY, :ESCAPED

      # Errors of the server and its connection.
      FAILURES = [Pelton::ConnectionError, Pelton::TimeoutError, Pelton::OverloadError, Pelton::Memcached::ServerError,
        Pelton::Memcached::ValueError].freeze
      private_constant :FAILURES

      # Entries may have versions (`cache_version` of a record).
      def self.supports_cache_versioning? = true

      # @param servers [Array<String>] "host:port"; by default MEMCACHE_SERVERS, or else 127.0.0.1:11211
      # @param options [Hash] those of every store, and the defaults of its calls' options, such as `raw: true`;
      #   {CLIENT_OPTIONS}; `error_handler:`, a callable with the keywords `method:`, `exception:` and `returning:` that
      #   replaces the log's line about an error; `cache_nils: false`, as `skip_nil: true`
      # @raise [ArgumentError] if an option is unknown, or a server's address is invalid
      def initialize(*servers, **options)
        servers = servers.flatten
        options = servers.extract_options!.merge(options)
        options[:skip_nil] = !options.delete(:cache_nils) if options.key?(:cache_nils)
        @error_handler = options.delete(:error_handler)
        client = options.slice(*CLIENT_OPTIONS)
        super(check(options.except(*CLIENT_OPTIONS)))
        servers = ENV.fetch("MEMCACHE_SERVERS", "127.0.0.1:11211").split(",") if servers.compact.empty?
        @client = Pelton::Memcached::Client.new(servers.map { |server| server.to_s.strip }, **client)
      end

      # @return [Pelton::Memcached::Client]
      attr_reader :client

      def inspect = "#<#{self.class} servers=#{@client.servers.join(",")} options=#{options.inspect}>"

      # Increments a counter atomically. A missing counter starts with `amount`.
      #
      # @return [Integer, nil] the new value; nil if the value is no number
      # @asynchronous
      def increment(name, amount = 1, options = nil)
        count(:increment, name, amount, options) do |key, ttl|
          if amount < 0
            @client.decr(key, -amount, initial: 0, ttl: ttl)
          else
            @client.incr(key, amount, initial: amount, ttl: ttl)
          end
        end
      end

      # Decrements a counter atomically, down to 0. A missing counter starts with 0.
      #
      # @return [Integer, nil] the new value; nil if the value is no number
      # @asynchronous
      def decrement(name, amount = 1, options = nil)
        count(:decrement, name, amount, options) do |key, ttl|
          if amount < 0
            @client.incr(key, -amount, initial: -amount, ttl: ttl)
          else
            @client.decr(key, amount, initial: 0, ttl: ttl)
          end
        end
      end

      # Deletes all items on all servers, including those of other programs.
      #
      # @asynchronous
      def clear(options = nil) = attempt(:clear, nil) { @client.flush_all }

      # @return [Hash{String => Hash{String => String}}] each server's counters
      # @raise [Pelton::ConnectionError] if a server does not answer
      # @asynchronous
      def stats = @client.stats

      private

      def check(options)
        unknown = options.keys - UNIVERSAL_OPTIONS - CALL_OPTIONS - %i[max_key_size]
        return options if unknown.empty?
        raise ArgumentError, "unknown option #{unknown.first.inspect}: PeltonStore takes those of " \
          "ActiveSupport::Cache::Store, error_handler, cache_nils, #{CLIENT_OPTIONS.join(", ")} (it needs no pool)"
      end

      def count(operation, name, amount, options)
        options = merged_options(options)
        key = normalize_key(name, options)
        instrument(operation, key, amount: amount) { attempt(operation, nil) { yield key, options[:expires_in]&.to_f } }
      end

      def read_entry(key, **options) = deserialize_entry(read_serialized_entry(key, **options), **options)

      def read_serialized_entry(key, **) = attempt(:read_entry, nil) { @client.get(key) }

      def write_entry(key, entry, **options) = write_serialized_entry(key, serialize_entry(entry, **options), **options)

      def write_serialized_entry(key, payload, unless_exist: false, **options)
        ttl = ttl_of(options)
        attempt(:write_entry, nil) do
          unless_exist ? @client.add(key, payload, ttl: ttl) : @client.set(key, payload, ttl: ttl)
        end
      end

      # Writes an entry to the process's own cache only if the server has stored it.
      def write_multi_entries(entries, **options)
        return super if options[:unless_exist]
        payloads = entries.transform_values { |entry| serialize_entry(entry, **options) }
        stored =
          attempt(:write_multi_entries, nil) { @client.set_multi(payloads, ttl: ttl_of(options)) } == payloads.size
        local = local_cache
        payloads.each { |key, payload| stored ? local.write_entry(key, payload) : local.delete_entry(key) } if local
        entries
      end

      def read_multi_entries(names, **options)
        names_by_key = names.index_by { |name| normalize_key(name, options) }
        payloads = attempt(:read_multi_entries, {}) { @client.get_multi(names_by_key.keys, partial: true) }
        payloads.each_with_object({}) do |(key, payload), values|
          name = names_by_key[key]
          entry = deserialize_entry(payload, raw: options[:raw])
          next if entry.nil? || entry.expired? || entry.mismatched?(normalize_version(name, options))
          values[name] = entry.value
        rescue DeserializationError
          next
        end
      end

      def delete_entry(key, **) = attempt(:delete_entry, false) { @client.delete(key) }

      def delete_multi_entries(keys, **)
        keys.each { |key| local_cache.delete_entry(key) } if local_cache
        attempt(:delete_multi_entries, 0) { @client.delete_multi(keys) }
      end

      def serialize_entry(entry, raw: false, **options) = raw ? entry.value.to_s : super

      # Another program wrote a payload that is no entry.
      def deserialize_entry(payload, raw: false, **)
        return payload && Entry.new(payload) if raw
        entry = super(payload)
        entry if entry.is_a?(Entry)
      end

      def ttl_of(options)
        ttl = options[:expires_in]
        return if ttl.nil? || ttl.zero?
        (options[:race_condition_ttl] && !options[:raw]) ? ttl.to_f + RACE_CONDITION_TIME : ttl.to_f
      end

      # The key as in MemCacheStore.
      def normalize_key(name, options)
        # Rails 8.1's shortens it, too
        key = respond_to?(:expand_and_namespace_key, true) ? expand_and_namespace_key(name, options) : super
        limit = [@max_key_size || MAX_KEY_SIZE, MAX_KEY_SIZE].min
        return key if key.nil? || (key.bytesize <= limit && key.ascii_only? && PLAIN_KEY.match?(key))
        key = key.b.gsub(ESCAPED) { |byte| format("%%%X", byte.ord) }
        return key if key.bytesize <= limit
        digest = ":hash:#{ActiveSupport::Digest.hexdigest(key)}"
        key.byteslice(0, limit - digest.bytesize) + digest
      end

      def attempt(method, returning)
        yield
      rescue *FAILURES => error
        report(method, returning, error)
        returning
      end

      def report(method, returning, error)
        ActiveSupport.error_reporter&.report(error, handled: true, severity: :warning, **SOURCE)
        return @error_handler.call(method: method, exception: error, returning: returning) if @error_handler
        logger&.error("PeltonStore: #{method} failed, returned #{returning.inspect}: #{error.class}: #{error.message}")
      end

      # Rails 7.0's reporter has no sources.
      SOURCE =
        ActiveSupport::ErrorReporter.instance_method(:report).parameters
          .include?(%i[key source]) ? {source: "pelton_store.active_support"}.freeze : {}.freeze
      private_constant :SOURCE
    end
  end
end
