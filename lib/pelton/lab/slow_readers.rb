# frozen_string_literal: true

require "io/wait"
require "socket"
require_relative "../clock"

module Pelton
  module Lab
    # Connections on which a large answer is read slowly.
    class SlowReaders
      # Bytes that one reads at a time, and what it lets the kernel keep for it.
      PIECE = 1024
      RECEIVE_BUFFER = 16_384
      PATIENCE = 20

      # Asks on all of them, and waits until each has its first byte.
      # @param run [Run] whose verdict it is
      # @param body [String] what is at `path`
      # @param patience [Numeric] seconds for all first bytes
      def initialize(run, port, path, size, body:, patience: PATIENCE)
        @run = run
        @body = body
        @sockets = Array.new(size) { ask(port, path) }
        @received = @sockets.to_h { |socket| [socket, "".b] }
        late = Clock.now + patience
        served = @sockets.count { |socket| socket.wait_readable(Clock.left(late)) && read(socket) }
        run.expect(size, served, "the number of readers that had a byte within #{patience} s")
      end

      # A piece is read on so many of them: each time on the next ones.
      def read_on(count)
        @sockets.first(count).each { |socket| read(socket) }
        @sockets.rotate!(count)
      end

      # Reads some to their end, quickly, and compares what came.
      def check(count = @sockets.size)
        @sockets.first(count).each do |socket|
          head, body = (@received[socket] << socket.read).split("\r\n\r\n", 2)
          @run.expect(["200", true], [head[%r{\AHTTP/1\.1 (\d+)}, 1], body == @body], "a slow reader's status, and whether it has the body")
        end
      end

      def close
        @sockets.each(&:close)
      end

      private

      def ask(port, path)
        socket = Socket.new(:INET, :STREAM)
        socket.setsockopt(:SOCKET, :RCVBUF, RECEIVE_BUFFER)
        socket.connect(Addrinfo.tcp("127.0.0.1", port))
        socket.write("GET #{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        socket
      end

      def read(socket)
        piece = socket.read_nonblock(PIECE, exception: false)
        @run.wrong("a slow reader's connection was closed") unless piece
        @received[socket] << piece if piece.is_a?(String)
        piece
      end
    end
  end
end
