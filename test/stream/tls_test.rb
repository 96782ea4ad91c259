# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/stream_suite"
require_relative "../support/certificates"

# The behaviour of streams with TLS. The peer is Ruby's OpenSSL.
module StreamTLSSuite
  include StreamSuite

  # An SSLSocket with the interface of the sockets that the suite uses.
  class Peer < SimpleDelegator
    # A socket returns all bytes at hand, an SSLSocket one record.
    def readpartial(max)
      bytes = super
      while (more = __getobj__.read_nonblock(max, exception: false)).is_a?(String)
        bytes << more
      end
      bytes
    end

    def close_write
      __getobj__.__send__(:stop) # sends close_notify
      io.close_write
    end

    # The suite calls this before a reset: close without close_notify.
    def setsockopt(...)
      io.setsockopt(...)
      io.close
    end

    def close
      super unless io.closed?
    end
  end

  CONTEXT = OpenSSL::SSL::SSLContext.new.tap do |context|
    context.add_certificate(Certificates.server.x509, Certificates.server.private_key)
  end
  TRUST = Pelton::TLS::Context.new(ca_file: Certificates.authority)

  # A server sends session tickets unasked. Closing a socket that holds unread bytes would reset the connection, and the
  # peer would lose the bytes that it has not read yet.
  def test_unread_session_tickets_do_not_reset_the_connection
    server = TCPServer.new("127.0.0.1", 0)
    with_stream([TCPSocket.new("127.0.0.1", server.addr[1]), server.accept]) do |stream, peer|
      received = Thread.new { sleep(0.1) && peer.read }
      ask(stream, :write, LARGE)
      stream.close
      assert_equal LARGE.bytesize, received.value.bytesize
    end
  ensure
    server.close
  end

  # The server ends its handshake, and sends its tickets, only after the stream has sent everything and was closed.
  def test_session_tickets_that_come_after_the_close_do_not_reset_the_connection
    listener = TCPServer.new("127.0.0.1", 0)
    written = Queue.new
    inside do
      stream = Pelton.connect("127.0.0.1", listener.addr[1])
      receiving = Thread.new { receive_late(listener.accept, written) }
      ask(stream, :start_tls, TRUST, server_name: "localhost")
      ask(stream, :write, LARGE.byteslice(0, 1_000_000))
      stream.flush
      written << true
      stream.close
      assert_predicate stream, :closed?
      assert_equal 1_000_000, receiving.value
    end
  ensure
    listener.close
  end

  # A UNIX socket's bytes count as acknowledged when the peer has received them.
  def test_a_peer_that_takes_nothing_does_not_keep_a_closed_stream_open
    with_stream do |stream, peer|
      stream.timeout = 0.05
      ask(stream, :write, "bytes")
      stream.flush
      closed = []
      stream.on_close { |error| closed << error }
      stream.close
      sleep 0.01 while closed.empty?

      assert_equal [nil], closed
      assert_equal "bytes", peer.read
    end
  end

  private

  # The number of bytes that a server receives if it ends its handshake a little after the queue has something.
  def receive_late(socket, queue)
    peer = OpenSSL::SSL::SSLSocket.new(socket, CONTEXT).tap { |secure| secure.sync_close = true }
    socket.wait_readable
    peer.accept_nonblock(exception: false)
    queue.pop
    sleep 0.1
    peer.accept
    peer.read.bytesize
  ensure
    socket.close
  end

  def with_stream(sockets = UNIXSocket.pair)
    own, raw = sockets
    inside do
      stream = Pelton::Stream.for_fd(own.fileno)
      own.autoclose = false
      accepting = Thread.new do
        OpenSSL::SSL::SSLSocket.new(raw, CONTEXT).tap { |socket| socket.sync_close = socket.sync = true }.accept
      end
      assert_same stream, ask(stream, :start_tls, TRUST, server_name: "localhost")
      yield stream, @peer = Peer.new(accepting.value)
    ensure
      @threads&.each(&:join)
      stream&.abort
    end
  ensure
    @peer&.close unless @peer&.closed?
  end
end

PeltonTest.in_styles("StreamTLS", StreamSuite::STYLES, StreamTLSSuite)

class StreamTLSTimeoutTest < PeltonTest
  def test_the_timeout_of_direct_style_counts_the_wait_of_on_certificate
    Pelton.run do
      stream, other = Pelton::Stream.pair
      other.start_tls(server: true, **Certificates.server.to_h) {}.errback {}

      assert_raises(Pelton::TimeoutError) do
        stream.start_tls(server_name: "localhost", timeout: 0.05, on_certificate: ->(_) { sleep })
      end
      assert_predicate stream, :closed?
    end
  end
end
