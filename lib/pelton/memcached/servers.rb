# frozen_string_literal: true

require_relative "hash_ring"
require_relative "node"

module Pelton
  module Memcached
    # The servers of a client, and the hash ring in use: of all servers, or, with failover, of those that are up.
    #
    # @private
    class Servers
      # @param nodes [Array<Node>]
      # @param ring [HashRing] of all nodes, in the same order
      # @param use [Proc] called with a ring that is used from now on, and with the indexes of its servers among the
      #   nodes
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

      # The connection in a slot of a server.
      #
      # @param index [Integer] of the server among the nodes
      # @param slot [Integer] of the connection
      # @param may_move [Boolean] whether the key may belong to another server now
      # @return [Connection, nil] it may have failed already; nil: the keys of this server have moved
      # @asynchronous
      def connection(index, slot, in_place, may_move, timeout)
        node = @nodes[index]
        return if may_move && node.down? && moved_from?(node)
        node.connection(in_place, timeout, slot)
      end

      # Asks the servers that are down, when it is time. Each gets a thread, so that nothing waits for it, and no
      # reactor runs longer because of it.
      def recheck
        @nodes.select(&:due?).each do |node|
          # After a fork it is not
          @mutex.synchronize { @asking[node] = Thread.new { ask(node) } unless @asking[node]&.alive? }
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

      # Gives the keys to the servers that are up; if there is none, the keys stay where they are.
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
