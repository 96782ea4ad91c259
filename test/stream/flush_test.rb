# frozen_string_literal: true

require "socket"
require_relative "../support/http/peer"
require "pelton"

# When queued output leaves (ext/pelton/core/stream/flush.h): at the end of its own stream's job, at the latest at the
# tick's end.
class StreamFlushTest < PeltonTest
  include HttpPeer

  MANY = 5

  # Bytes that have arrived at the peers that were answered before.
  def received(sockets)
    sockets.map { |socket| socket.recv_nonblock(1000, Socket::MSG_PEEK, exception: false) }.grep(String).size
  end

  # Many peers send at once, before the loop looks. Each answer looks how many others' have arrived.
  def with_peers(request)
    seen = []
    sockets = []
    Pelton.run do
      pairs = Array.new(MANY) { UNIXSocket.pair }
      sockets = pairs.map(&:last)
      yield pairs.map { |ours, _| Pelton::Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno) },
        -> { seen << received(sockets) }
      Pelton::Reactor.current.yield
      sockets.each { |socket| socket.write(request) }
      sleep 0.001 until seen.size == MANY
    ensure
      sockets.each(&:close)
    end
    assert_equal [*0...MANY], seen
  end

  def test_on_data
    with_peers("x") do |streams, look|
      streams.each do |stream|
        stream.on_data do |bytes|
          look.call
          stream.write(bytes)
        end
      end
    end
  end

  def test_fibers_that_read
    with_peers("x") do |streams, look|
      streams.each do |stream|
        Pelton.spawn do
          while (bytes = stream.readpartial(100))
            look.call
            stream.write(bytes)
          end
        rescue Pelton::ConnectionError
          nil # the peers close with unread bytes
        end
      end
    end
  end

  def test_responses
    with_peers("GET / HTTP/1.1\r\nHost: h\r\n\r\n") do |streams, look|
      server =
        Pelton::HTTP::Server.new(
          HELLO.dup.tap { |app| app.define_singleton_method(:call) { |env| look.call && super(env) } }
        )
      streams.each { |stream| server.serve(stream) }
    end
  end

  def test_a_response_of_a_handler_that_has_waited
    with_peers("GET / HTTP/1.1\r\nHost: h\r\n\r\n") do |streams, look|
      gate = Queue.new
      app = lambda do |env|
        gate.pop
        look.call
        HELLO.call(env)
      end
      server = Pelton::HTTP::Server.new(app)
      streams.each { |stream| server.serve(stream) }
      Pelton.spawn do
        sleep 0.001 until gate.num_waiting == MANY
        MANY.times { gate << 1 }
      end
    end
  end

  def test_responses_to_pipelined_requests_share_a_send
    seen = []
    peer = nil
    app = ->(env) { seen << received([peer.io]) && HELLO.call(env) }
    serving(app) do
      peer = peer().say("GET / HTTP/1.1\nHost: h\n\n" * MANY)
      MANY.times { peer.response }
    end
    assert_equal [0] * MANY, seen
  end
end
