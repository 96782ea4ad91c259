# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/websocket_peer"
require "pelton/test"

class WebSocketOutputTest < PeltonTest
  include WebSocketPeer

  WebSocket = Pelton::HTTP::WebSocket
  KILOBYTE = "x" * 1024
  LIMIT = 2 << 20

  # A peer that does not read costs 2 MB, and no fiber.
  def test_callback_style_is_refused_beyond_a_limit
    with_a_socket do |socket, _peer|
      sent = overloads = 0
      parked = nil
      reports = Pelton::Test.unrescued do
        20_000.times do
          written = socket.write(KILOBYTE) { sent += 1 }
          written.errback { |error| overloads += 1 if error.is_a?(Pelton::OverloadError) }
        end
        parked = Pelton.stats[:parked]

        assert_includes LIMIT..LIMIT + 2000, socket.pending
        eventually { overloads > 15_000 }
        socket.abort
        eventually { sent + overloads < 20_000 && socket.closed? }
        sleep 0.01
      end

      assert_empty reports
      assert_operator parked, :<, 10
      assert_operator overloads, :>, 15_000
    end
  end

  # Once in a while: a program that does not look at its writes would fill the log.
  def test_an_overload_that_nobody_handles_is_reported
    line = nil
    with_a_socket(tcp: true) do |socket, peer|
      @port = peer.local_address.ip_port
      reports = Pelton::Test.unrescued do
        2.times do
          line = __LINE__ + 1
          20_000.times { socket.write(KILOBYTE) { nil } }
          handled = false
          socket.write(KILOBYTE) { nil }.errback { handled = true }
          eventually { handled } # and so are all before it
          socket.instance_variable_set(:@refusal_reported, Pelton::Clock.now - 2)
        end
      end

      assert_equal [Pelton::OverloadError], reports.map(&:class).uniq
      assert_includes 2..20, reports.size # of more than ten thousand
      reports.each { |error| assert error.backtrace.first.start_with?("#{__FILE__}:#{line}:"), error.backtrace.first }
      assert_match(/\A\d+ bytes are queued: the peer 127\.0\.0\.1:#{@port} reads too slowly\z/, reports.first.message)
      assert_match(/ reads too slowly; [1-9]\d+ writes to it were refused since the last report\z/,
        reports.last.message)
    end
  end

  def test_a_block_is_called_when_the_message_was_sent
    with_a_socket do |socket, peer|
      events = []
      big = "x".b * 1_500_000
      socket.write(big) { |same| events << same }
      socket.later.write("last").callback { events << :last }
      sleep 0.01
      assert_empty events
      assert_equal [:binary, big], next_frame(peer)
      assert_equal [:text, "last"], next_frame(peer)
      eventually { events.size == 2 }

      assert_same socket, events.first
      assert_equal 0, socket.pending
    end
  end

  def test_a_write_with_a_time_limit_leaves_its_message_in_the_queue
    with_a_socket do |socket, peer|
      big = "x".b * 3_000_000
      assert_raises(Pelton::TimeoutError) { socket.write(big, timeout: 0.01) }
      refute_predicate socket, :closed?
      assert_operator socket.pending, :>, 1 << 20
      writing = Pelton.spawn { socket.write("next") }

      assert_equal [:binary, big], next_frame(peer)
      assert_equal [:text, "next"], next_frame(peer)
      assert_same socket, writing.await
    end
  end

  # It sends, so that its silence is no reason; and a handler waits for it in a write.
  def test_a_peer_that_sends_and_never_reads_is_given_up
    with_a_socket(write_timeout: 0.02, ping: nil) do |socket, peer|
      closed = nil
      socket.on_close { |*facts| closed = facts }
      writing = Pelton.spawn { assert_raises(Pelton::ClosedError) { socket.write("x".b * 5_000_000) } }
      eventually { closed || (peer.write(frame(:text, "I am here")) && nil) }

      assert_match(/1006 the peer has taken no bytes for 0.02 s/, writing.await.message)
      assert_equal [1006, "the peer has taken no bytes for 0.02 s"], closed
      assert_raises(EOFError, Pelton::ConnectionError) { loop { peer.readpartial(1 << 20) } }
    end
  end

  def test_a_peer_that_reads_slowly_is_not_given_up
    kept = [0.1, 1, 10].any? do |limit| # a machine that stands still reads too late
      with_a_socket(write_timeout: limit) do |socket, peer|
        writing = Pelton.spawn {
          begin
            socket.write("x".b * 3_000_000)
          rescue
            nil
          end
        }
        until writing.done? && socket.pending.zero?
          sleep(limit / 10.0)
          break unless begin
            peer.readpartial(300_000)
          rescue
            nil
          end
        end
        !socket.closed?
      end
    end

    assert kept
  end

  def test_abort
    with_a_socket do |socket, peer|
      closed = nil
      socket.on_close { |*facts| closed = facts }
      receiving = Pelton.spawn { socket.receive }
      socket.later.write("x".b * 1_500_000).errback {}
      Pelton::Reactor.current.yield
      assert_nil socket.abort

      assert_equal [1006, "this side has aborted the connection"], closed
      assert_nil receiving.await
      assert_operator peer.read.bytesize, :<, 1_500_000
      assert_match(/1006/, assert_raises(Pelton::ClosedError) { socket.write("x") }.message)
      assert_nil socket.abort
    end
  end

  # A close frame waits for nobody.
  def test_closing_never_waits
    with_a_socket do |socket, peer|
      socket.later.write("x".b * 1_500_000)
      assert_operator socket.pending, :>, 1 << 20
      before = Pelton.stats[:iterations]
      socket.close(1000, "enough")
      assert_equal before, Pelton.stats[:iterations]

      assert_equal :binary, next_frame(peer).first
      assert_equal [:close, "\x03\xe8enough".b], next_frame(peer)
      peer.write(frame(:close, "\x03\xe8".b))
      assert_nil socket.receive
    end
  end

  def test_a_closed_socket_says_why
    with_a_socket do |socket, peer|
      peer.write(frame(:close, [4000].pack("S>") + "go away"))
      assert_nil socket.receive

      assert_match(/closed: 4000 go away/, assert_raises(Pelton::ClosedError) { socket.write("x") }.message)
      assert_match(/closed: 4000 go away/, assert_raises(Pelton::ClosedError) { socket.later.write("x").await }.message)
    end
  end

  def test_what_is_no_message
    with_a_socket do |socket, _peer|
      assert_raises(TypeError) { socket.write(5) }
      assert_raises(ArgumentError) { socket.later.write("\xff") }
    end
  end

  def test_options_that_are_not_known
    env = {"REQUEST_METHOD" => "GET"}

    assert_match(/unknown option: pings\z/,
      assert_raises(ArgumentError) { WebSocket.accept(env, pings: 5) { flunk } }.message)
    assert_raises(ArgumentError) { WebSocket.connect("ws://127.0.0.1:1", max_messages: 1) }
  end

  private

  # A server's socket, and its client's stream; what lies between takes some 200 KB.
  def with_a_socket(tcp: false, **options)
    value = nil
    Pelton.run do
      ours, peer = tcp ? tcp_pair : Pelton::Stream.pair
      value = yield(server_socket(ours, **options), peer)
    ensure
      Pelton.stop
    end
    value
  end

  def tcp_pair
    accepted = Pelton::Operation.new
    listener = Pelton.listen("127.0.0.1", 0) { |stream| accepted.succeed(stream) }
    peer = Pelton.connect("127.0.0.1", listener.port)
    [accepted.await, peer]
  ensure
    listener.close
  end
end
