# frozen_string_literal: true

require "optparse"
require "socket"
require "pelton/clock"

module Pelton
  module Lab
    # A proxy that adds latency to a server. With `delay` it forwards every byte that many seconds after it has read it,
    # in each direction, however many bytes are in flight (a round trip takes twice as long). With `chunk` each
    # direction carries one piece of at most 64 KB at a time, and each piece takes that many seconds: a slow line. It
    # can also cut connections, let them stall, and change a byte.
    class LatencyProxy
      PIECE = 65_536

      # @param to [String] the server, "host:port"
      # @param delay [Numeric] seconds in each direction
      # @param chunk [Numeric, nil] seconds for each piece, instead
      # @param cut_after [Integer, nil] bytes from the server after which the connection is cut
      # @param stall_after [Integer, nil] bytes from the server after which nothing more is forwarded, while the
      #   connection stays open
      # @param corrupt_at [Integer, nil] the byte from the server, counted from 0, in which one bit is changed
      def initialize(to:, delay: 0, chunk: nil, cut_after: nil, stall_after: nil, corrupt_at: nil)
        @host, _, @port = to.rpartition(":")
        @delay = chunk || delay
        @limit = chunk ? 1 : 1024
        @faults = {cut_after:, stall_after:, corrupt_at:}
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
        sources = @directions.select(&:space?).map(&:from)
        blocked = @directions.select(&:blocked?).map(&:to)
        due = @directions.filter_map(&:due_in).min
        IO.select([@listener, *sources], blocked, nil, due)&.first(2) || [[], []]
      end

      def accept
        client = @listener.accept
        server = TCPSocket.new(@host, @port)
        [client, server].each { |socket| socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) }
        there = Direction.new(client, server, @delay, @limit)
        back = Direction.new(server, client, @delay, @limit, **@faults)
        there.other = back
        back.other = there
        @directions.push(there, back)
      rescue SystemCallError
        client&.close # the proxy refuses as the server does
      end

      def clear
        ended, @directions = @directions.partition { |direction| direction.ended? && direction.other.ended? }
        ended.each(&:close)
      end

      # One direction of one connection: the pieces that were read, and when each is due at the other end.
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

        def space?
          !@eof && !@ended && @pieces.size < @limit
        end

        # Whether the next piece is due and the other end does not take it.
        def blocked?
          @blocked
        end

        def ended?
          @ended
        end

        def due?
          waiting? && @pieces.first[0] <= Clock.now
        end

        # Seconds until the next piece is due; nil when no piece waits for its time.
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

        # Ends both directions with a reset: both ends see a lost connection.
        def cut
          [self, other].each(&:abandon)
          [from, to].each { |socket| socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii")) }
        rescue SystemCallError
          # it is lost anyway
        end

        def abandon
          @pieces.clear
          @blocked = false
          @ended = true
        end

        private

        # Forwards a half-close as such.
        def finish
          @ended = true
          to.shutdown(Socket::SHUT_WR)
        rescue SystemCallError
          # the other end has gone
        end

        # Whether a piece waits for nothing but its time.
        def waiting?
          @pieces.any? && !@blocked && !@stalled
        end

        def damaged(piece)
          return piece unless @corrupt_in
          piece.setbyte(@corrupt_in, piece.getbyte(@corrupt_in) ^ 1) if @corrupt_in.between?(0, piece.bytesize - 1)
          @corrupt_in -= piece.bytesize
          piece
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
  # To save power the kernel may wake a process 50 us late, which is much for a delay of 100 us.
  File.write("/proc/self/timerslack_ns", "1") if File.writable?("/proc/self/timerslack_ns")
  proxy = Pelton::Lab::LatencyProxy.new(**options)
  $stdout.puts(proxy.port)
  $stdout.close
  proxy.run
end
