# frozen_string_literal: true

require_relative "hash_ring"
require_relative "node"

module Pelton
  module Memcached
    # The servers of a client, and which of them have the keys now: all; or those that are up, as long as one is down and
    # its keys are to be found elsewhere (failover).
    #
    # @private
    class Servers
      # @param nodes [Array<Node>]
      # @param ring [HashRing] of all, in this order
      # @param use [Proc] is called with a ring, and with its servers' places among the nodes, when it is to be used
      def initialize(nodes, ring, failover, &use)
        @nodes = nodes
        @ring = ring
        @failover = failover && nodes.size > 1
        @use = use
        @mutex = Thread::Mutex.new
        @used = nodes
        @asking = {}
      end

      def addresses = @ring.servers

      def use_all = @mutex.synchronize { use(@nodes) }

      # A connection to the server at this place, the one of this number.
      #
      # @return [Connection, nil] it may have failed already; nil: its keys have moved
      # @asynchronous
      def connection(place, lane, in_place, may_move, timeout)
        node = @nodes[place]
        return if may_move && node.down? && moved_from?(node)
        node.connection(in_place, timeout, lane)
      end

      # Asks those that are down, when it is time: each in a thread of its own, because nobody else shall wait for it, and
      # no reactor run longer.
      def look_again
        @nodes.select(&:due?).each do |node|
          @mutex.synchronize { @asking[node] = Thread.new { ask(node) } unless @asking[node]&.alive? } # after a fork it is not
        end
        move
      end

      def close = @nodes.each(&:close)

      private

      def ask(node)
        node.ask
        move
      end

      def moved_from?(node)
        move
        !@used.include?(node)
      end

      # The keys belong to those that are up; where none is, to those to which they belonged before.
      def move
        return unless @failover
        up = @nodes.reject(&:down?)
        @mutex.synchronize { use(up) unless up.empty? || up == @used }
      end

      def use(nodes)
        @used = nodes
        ring = (nodes.size == @nodes.size) ? @ring : @ring.without(*(@nodes - nodes).map(&:address))
        @use.call(ring, nodes.map { |node| @nodes.index(node) })
      end
    end
  end
end
