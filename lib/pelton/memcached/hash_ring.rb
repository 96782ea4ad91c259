# frozen_string_literal: true

require_relative "../../pelton"
require_relative "address"

module Pelton
  public_constant :Memcached

  module Memcached
    # A consistent hash ring (ketama, as in libmemcached), which maps keys to servers. Programs that list the same
    # servers with the same weights agree about the server of each key, in any language. The order of the list does not
    # matter.
    #
    # Options that make the ring agree with other clients:
    #
    # - libmemcached with MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, and clients of that kind: none, it is the default.
    # - the `memcached` gem, which hashes keys by FNV-1: `hash: :fnv1_32`. It gives servers the weight 8 by default;
    #   only the proportions count.
    # - libmemcached with MEMCACHED_BEHAVIOR_KETAMA (pylibmc's `"ketama": True`):
    #   `hash: :one_at_a_time, points: :equal`. If that program sets the behavior first and then adds a server whose
    #   weight is more than 1, libmemcached places by weight: `hash: :one_at_a_time` alone.
    # - dalli has a ring of its own (CRC32 and SHA-1). With n servers it looks for about (n - 1) of n keys elsewhere.
    #
    # A ring is immutable, and threads may share it.
    class HashRing
      # @!method index(key)
      #   @param key [String, Symbol]
      #   @return [Integer] the index of the key's server in {servers}

      # @return [Array<Address>]
      attr_reader :servers

      # @param servers [Array<String, Address>] see {Address.parse}
      # @param hash [Symbol] the hash function for keys: :md5, :fnv1_32, :fnv1a_32 or :one_at_a_time
      # @param points [Symbol] the servers' points on the ring. :weighted: about 160 for each server, by its weight and
      #   MD5; :equal: 100 for each server, by `hash`
      # @raise [ArgumentError] an address or an option is invalid
      def initialize(servers, hash: :md5, points: :weighted)
        unless %i[weighted equal].include?(points)
          raise ArgumentError, "points: must be :weighted or :equal, not #{points.inspect}"
        end
        @servers = Array(servers).map { |server| Address.parse(server) }.freeze
        @hash = hash
        @points = points
        _build(@servers.map(&:ring_name), @servers.map(&:weight), hash, points == :weighted)
        freeze
      end

      # @param key [String, Symbol]
      # @return [Address] the server of the key
      def [](key) = servers[index(key)]

      # Makes a ring without some servers. Their keys belong to the other servers; all other keys stay where they are,
      # but for a few that move because shares are rounded.
      #
      # @return [HashRing]
      # @raise [ArgumentError] no server is left
      def without(*gone)
        gone = gone.map { |server| Address.parse(server) }
        self.class.new(servers - gone, hash: @hash, points: @points)
      end
    end
  end
end
