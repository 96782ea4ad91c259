# frozen_string_literal: true

require "optparse"
require "socket"
require_relative "../clock"

module Pelton
  module Lab
    # Stands before a server and makes it distant. With `delay` every byte is forwarded that many seconds after it was
    # read, each way, whatever is under way (a round trip is twice that). With `chunk` each way carries one piece of at
    # most 64 KB at a time, and each takes that many seconds: a slow and narrow line. It can
    # also cut connections, let them stall, and change a byte.
    class LatencyProxy
      PIECE = 65_536

      # @param to [String] the server, "host:port"
      # @param delay [Numeric] seconds one way
      # @param chunk [Numeric, nil] seconds for each piece, instead
      # @param cut_after [Integer, nil] bytes that the server may send before its connection is cut
      # @param stall_after [Integer, nil] bytes after which the server's answers stay away, while its connection stays open
      # @param corrupt_at [Integer, nil] the byte of the server's, counted from 0, of which one bit is changed
      def initialize(to:, delay: 0, chunk: nil, cut_after: nil, stall_after: nil, corrupt_at: nil)
        @host, _, @port = to.rpartition(":")
        @delay = chunk || delay
        @limit = chunk ? 1 : 1024
        @trouble = {cut_after:, stall_after:, corrupt_at:}
        @listener = TCPServer.new("127.0.0.1", 0)
        @directions = []
      end

      def port
        @listener.addr[1]
      end

      # Forwards until the process ends.
      def run
        loop do
          readable, writable = wait
          accept if readable.delete(@listener)
          @directions.each { |direction| direction.read if readable.include?(direction.from) }
          @directions.each { |direction| direction.write if direction.due? || writable.include?(direction.to) }
          clear
        end
      end

      private

      def wait
        sources = @directions.select(&:room?).map(&:from)
        blocked = @directions.select(&:blocked?).map(&:to)
        due = @directions.filter_map(&:due_in).min
        IO.select([@listener, *sources], blocked, nil, due)&.first(2) || [[], []]
      end

      def accept
        client = @listener.accept
        server = TCPSocket.new(@host, @port)
        [client, server].each { |socket| socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) }
        there = Direction.new(client, server, @delay, @limit)
        back = Direction.new(server, client, @delay, @limit, **@trouble)
        there.other = back
        back.other = there
        @directions.push(there, back)
      rescue SystemCallError
        client&.close # the server refuses: so does its proxy
      end

      def clear
        ended, @directions = @directions.partition { |direction| direction.ended? && direction.other.ended? }
        ended.each(&:close)
      end

      # One way of one connection: what was read, and when each piece is due at the other end.
      class Direction
        attr_reader :from, :to
        attr_accessor :other

        def initialize(from, to, delay, limit, cut_after: nil, stall_after: nil, corrupt_at: nil)
          @from = from
          @to = to
          @delay = delay
          @limit = limit
          @left = cut_after || stall_after
          @stalls = stall_after
          @corrupt_in = corrupt_at
          @pieces = []
        end

        def room?
          !@eof && !@ended && @pieces.size < @limit
        end

        # The next piece is due and the other end would not take it.
        def blocked?
          @blocked
        end

        def ended?
          @ended
        end

        def due?
          waiting? && @pieces.first[0] <= Clock.now
        end

        # Seconds until the next piece is due, nil when none is waiting for its time.
        def due_in
          Clock.left(@pieces.first[0]) if waiting?
        end

        def read
          piece = from.read_nonblock(PIECE, exception: false)
          return if piece == :wait_readable
          piece ? @pieces << [Clock.now + @delay, damaged(piece)] : @eof = true
          finish if @eof && @pieces.empty?
        rescue SystemCallError
          cut
        end

        def write
          @blocked = false
          while @pieces.any? && @pieces.first[0] <= Clock.now
            piece = @pieces.first[1]
            written = to.write_nonblock(@left ? piece.byteslice(0, @left) : piece, exception: false)
            return @blocked = true if written == :wait_writable
            (written == piece.bytesize) ? @pieces.shift : @pieces.first[1] = piece.byteslice(written..)
            return @stalls ? @stalled = true : cut if @left && (@left -= written).zero?
          end
          finish if @eof && @pieces.empty?
        rescue SystemCallError
          cut
        end

        def close
          [from, to].each { |socket| socket.close unless socket.closed? }
        end

        # Both ways are over, with a reset: the peers see a connection that was lost.
        def cut
          [self, other].each(&:abandon)
          [from, to].each { |socket| socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii")) }
        rescue SystemCallError
          # it is lost already
        end

        def abandon
          @pieces.clear
          @blocked = false
          @ended = true
        end

        private

        # There is a piece that only its time holds back.
        def waiting?
          @pieces.any? && !@blocked && !@stalled
        end

        def damaged(piece)
          return piece unless @corrupt_in
          piece.setbyte(@corrupt_in, piece.getbyte(@corrupt_in) ^ 1) if @corrupt_in.between?(0, piece.bytesize - 1)
          @corrupt_in -= piece.bytesize
          piece
        end

        # A half-close is forwarded as one.
        def finish
          @ended = true
          to.shutdown(Socket::SHUT_WR)
        rescue SystemCallError
          # the other end has gone
        end
      end
    end
  end
end

if $PROGRAM_NAME == __FILE__
  options = {}
  OptionParser.new do |parser|
    parser.on("--to HOST:PORT") { |address| options[:to] = address }
    parser.on("--delay SECONDS", Float) { |seconds| options[:delay] = seconds }
    parser.on("--chunk SECONDS", Float) { |seconds| options[:chunk] = seconds }
    parser.on("--cut-after BYTES", Integer) { |bytes| options[:cut_after] = bytes }
    parser.on("--stall-after BYTES", Integer) { |bytes| options[:stall_after] = bytes }
    parser.on("--corrupt-at BYTE", Integer) { |byte| options[:corrupt_at] = byte }
  end.parse!
  # The kernel may wake a process 50 us late to save power; at 0.1 ms that would be half as much again.
  File.write("/proc/self/timerslack_ns", "1") if File.writable?("/proc/self/timerslack_ns")
  proxy = Pelton::Lab::LatencyProxy.new(**options)
  $stdout.puts(proxy.port)
  $stdout.close
  proxy.run
end
