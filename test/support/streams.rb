# frozen_string_literal: true

require "socket"
require "pelton"

# Streams and their peers for tests. A peer is a plain socket.
module Streams
  LARGE = Random.new(11).bytes(3_000_000).freeze

  # Lets the loop run one tick.
  def tick = Pelton::Reactor.current.yield || true

  # The same, and lets other threads run: a tick that does not wait keeps the GVL.
  def rest = sleep(0.001)

  # Yields a stream and its peer, which is kept from the garbage collector.
  def with_pair
    own, peer = UNIXSocket.pair
    own.autoclose = false
    (@peers ||= []) << peer
    yield Pelton::Stream.for_fd(own.fileno), peer
  end

  # The same in a reactor.
  def run_with_pair(&block) = Pelton.run { with_pair(&block) }

  # By TCP, where a reactor runs.
  def with_connection
    listener = TCPServer.new("127.0.0.1", 0)
    stream = Pelton.connect("127.0.0.1", listener.addr[1])
    yield stream, listener.accept
  ensure
    listener.close
  end

  # Closes a TCP socket so that its peer gets ECONNRESET.
  def reset(socket)
    socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
    socket.close
  end

  # Calls the block in a thread, a moment later.
  def in_thread = Thread.new { sleep(0.005) && yield }

  # Yields the port of a server that echoes one connection.
  def with_echo_server
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      socket = server.accept
      IO.copy_stream(socket, socket)
    rescue SystemCallError
      nil
    ensure
      socket&.close
    end
    yield server.addr[1]
  ensure
    thread.kill.join
    server.close
  end
end
