# frozen_string_literal: true

module Pelton
  module Cable
    # Sends heartbeats to all sockets, by which a client notices that its connection is gone. One timer serves all: the
    # sockets are spread over slots, whose turns come one after the other, so that thousands are not written to at once.
    # Every fifth time it also finds out whether a peer is still there: one that has been silent since the last time
    # gets a ping of WebSocket, which Action Cable never sends and some clients take for a message.
    # @private
    class Heart
      SLOTS = 30
      CHECK_EVERY = 5
      private_constant :SLOTS, :CHECK_EVERY

      # @param interval [Numeric] seconds between two heartbeats of a socket
      # @param limit [Integer] bytes that may wait for a socket
      def initialize(interval, limit:)
        @interval = interval
        @rooms = Array.new(SLOTS) { HTTP::WebSocket::Room.new(max_bytes: limit, slow: :drop) }
        @next = @turn = @round = 0
      end

      # @param socket [HTTP::WebSocket] is left out by itself when it is closed
      def add(socket)
        @rooms[@next = (@next + 1) % SLOTS].add(socket)
        @timer ||= Pelton.add_periodic_timer(@interval / SLOTS.to_f) { beat }
      end

      # @return [Integer]
      def size = @rooms.sum(&:size)

      # Calls the block with each socket.
      def each(&block) = @rooms.each { |room| room.each(&block) }

      private

      def beat
        room = @rooms[@turn]
        unless room.empty?
          room.broadcast(%({"type":"ping","message":#{Time.now.to_i}}))
          room.each { |socket| socket.check_peer(silent: true) } if @round == 0
        end
        @turn = (@turn + 1) % SLOTS
        return unless @turn == 0
        @round = (@round + 1) % CHECK_EVERY
        return if @rooms.any? { |one| !one.empty? }
        @timer.cancel
        @timer = nil
      end
    end
  end
end
