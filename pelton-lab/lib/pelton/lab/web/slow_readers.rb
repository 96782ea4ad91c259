# frozen_string_literal: true

require "io/wait"
require "socket"
require "pelton/clock"

module Pelton
  module Lab
    # Clients that receive a large answer slowly.
    class SlowReaders
      # Bytes that a client reads at a time, and the size of its socket's receive buffer.
      PIECE = 1024
      RECEIVE_BUFFER = 16_384
      TIMEOUT = 20

      # Sends a request on each connection, and waits until each client has its first byte.
      # @param run [Run] gets the verdict
      # @param body [String] the expected body of `path`
      # @param timeout [Numeric] seconds for all first bytes
      def initialize(run, port, path, size, body:, timeout: TIMEOUT)
        @run = run
        @body = body
        @sockets = Array.new(size) { ask(port, path) }
        @received = @sockets.to_h { |socket| [socket, "".b] }
        late = Clock.now + timeout
        served = @sockets.count { |socket| socket.wait_readable(Clock.left(late)) && read(socket) }
        run.expect(size, served, "the number of readers that had a byte within #{timeout} s")
      end

      # So many clients read a piece each: the next ones each time.
      def read_on(count)
        @sockets.first(count).each { |socket| read(socket) }
        @sockets.rotate!(count)
      end

      # Reads some answers to their end, quickly, and compares the bodies.
      def check(count = @sockets.size)
        @sockets.first(count).each do |socket|
          head, body = (@received[socket] << socket.read).split("\r\n\r\n", 2)
          @run.expect(["200", true], [head[%r{\AHTTP/1\.1 (\d+)}, 1], body == @body],
            "a slow reader's status, and whether it has the body")
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
