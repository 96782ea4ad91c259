# frozen_string_literal: true

require_relative "../../pelton"
require_relative "address"

module Pelton
  module Memcached
    # Which of several servers has a key: ketama, as libmemcached does it. Programs that list the same servers with the
    # same weights find the same keys, in whatever language they are. The order of the list does not matter.
    #
    # What others need to be told here:
    #
    # - libmemcached with MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, and clients of that kind: nothing, it is the default.
    # - the `memcached` gem, which hashes keys by FNV-1: `hash: :fnv1_32`. Its servers have the weight 8 where none is
    #   given; only the proportions count.
    # - libmemcached with MEMCACHED_BEHAVIOR_KETAMA (pylibmc's `"ketama": True`): `hash: :one_at_a_time, points: :equal`.
    # - dalli has a ring of its own (CRC32 and SHA-1). With n servers it looks for about (n - 1) of n keys elsewhere.
    #
    # The ring never changes, and may be used by several threads.
    class HashRing
      # @!method index(key)
      #   @param key [String, Symbol]
      #   @return [Integer] the place of the key's server among {servers}

      # @return [Array<Address>]
      attr_reader :servers

      # @param servers [Array<String, Address>] see {Address.parse}
      # @param hash [Symbol] by which a key is placed: :md5, :fnv1_32, :fnv1a_32 or :one_at_a_time
      # @param points [Symbol] :weighted, about 160 for a server by MD5; or :equal, 100 for each by `hash`, whatever its
      #   weight
      # @raise [ArgumentError]
      def initialize(servers, hash: :md5, points: :weighted)
        raise ArgumentError, "points: is :weighted or :equal, not #{points.inspect}" unless %i[weighted equal].include?(points)
        @servers = Array(servers).map { |server| Address.parse(server) }.freeze
        @hash = hash
        @points = points
        _build(@servers.map(&:ring_name), @servers.map(&:weight), hash, points == :weighted)
        freeze
      end

      # @param key [String, Symbol]
      # @return [Address] of the server that has the key
      def [](key) = servers[index(key)]

      # A ring on which the keys of some servers belong to the others; all other keys stay where they are, but for a few
      # that move because shares are rounded.
      #
      # @return [HashRing]
      # @raise [ArgumentError] when no server is left
      def without(*gone)
        gone = gone.map { |server| Address.parse(server) }
        self.class.new(servers - gone, hash: @hash, points: @points)
      end
    end
  end
end
