# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "../support/certificates"
require_relative "../support/websocket_peer"
require "pelton/test"

class WebSocketTest < PeltonTest
  include WebSocketPeer

  WebSocket = Pelton::HTTP::WebSocket

  def test_messages_both_ways
    with_echo do |url|
      socket = WebSocket.connect(url)
      ["text", "ä€😀", "", "x" * 200_000, "\xff\x00".b, Random.new(1).bytes(100_000)].each do |message|
        socket.write(message)
        received = socket.receive

        assert_equal message, received
        assert_equal message.encoding, received.encoding
      end
    end
  end

  def test_where_no_reactor_runs
    Dir.mktmpdir do |folder|
      ports = Queue.new
      server = Thread.new do
        Pelton.run do
          with_server(->(env) do
            WebSocket.accept(env) { |socket| socket.each { |message| socket.write(message) } }
          end) do |url|
            ports << url
            sleep 0.01 until File.exist?("#{folder}/done")
          end
        end
      end
      socket = WebSocket.connect(ports.pop)
      socket.write("hello")
      assert_equal "hello", socket.receive
      assert_raises(Pelton::TimeoutError) { socket.receive(timeout: 0.01) }
      socket.close
      assert_nil socket.receive
      assert_equal 1000, socket.close_code
      File.write("#{folder}/done", "")
      server.join
    end
  end

  def test_callback_style
    with_echo do |url|
      got = []
      WebSocket.connect(url) do |socket|
        socket.on_message { |message| ((got << message).size == 3) ? socket.close : sleep(0.001) }
        socket.on_close { |code, reason| got << code << reason }
        socket.write("1").write("2") << "3"
      end
      eventually { got.size == 5 }

      assert_equal ["1", "2", "3", 1000, ""], got
    end
  end

  def test_deferrables
    with_echo do |url|
      socket = WebSocket.connect(url)
      first = socket.later.receive
      second = socket.receive { |message| assert_equal "b", message }
      socket.later.write("a").await
      socket.write("b") { |same| assert_same socket, same }

      assert_equal %w[a b], [first.await, second.await]
    end
  end

  def test_several_fibers_receive_in_turn
    with_echo do |url|
      socket = WebSocket.connect(url)
      receivers = Array.new(5) { Pelton.spawn { socket.receive } }
      5.times { |number| socket.write(number.to_s) }

      assert_equal %w[0 1 2 3 4], receivers.map(&:await)
    end
  end

  # It has the message already, but has not gone on yet.
  def test_a_receiver_that_is_cancelled_leaves_its_message_to_the_next
    Pelton.run do
      socket = server_socket(Pelton::Stream.pair.first)
      cancelled, next_one = Array.new(2) { Pelton.spawn { socket.receive } }
      sleep 0
      socket.__send__(:feed, frame(:text, "a"))
      cancelled.cancel

      assert_equal "a", next_one.await
      last = Pelton.spawn { socket.receive }
      sleep 0
      socket.__send__(:feed, frame(:text, "b"))
      last.cancel
      sleep 0

      assert_equal "b", socket.receive(timeout: 1)
      socket.abort
    end
  end

  def test_what_a_callback_raises_stops_nothing
    raised = errors_reported do |messages|
      with_echo do |url|
        socket = WebSocket.connect(url)
        socket.on_message { |message| raise "no #{message}" }
        3.times { |number| socket.write(number.to_s) }
        eventually { messages.size == 3 }
      end
    end
    assert_equal ["no 0", "no 1", "no 2"], raised
  end

  def test_a_handler_that_raises_closes_with_1011
    raised = errors_reported do
      with_server(->(env) { WebSocket.accept(env) { |_| raise "oh no" } }) do |url|
        socket = WebSocket.connect(url)

        assert_nil socket.receive
        assert_equal 1011, socket.close_code
      end
    end
    assert_equal ["oh no"], raised
  end

  # ---- messages with the end right behind them

  ANSWERING = {
    direct: ->(socket) { socket.each { |message| socket.write("not #{message}") } },
    callback: ->(socket) { socket.on_message { |message| socket.write("not #{message}") } },
    callback_that_waits: ->(socket) { socket.on_message { |message| sleep(0.01) && socket.write("not #{message}") } },
    receive_with_a_block: ->(socket) {
      2.times { socket.receive { |message| socket.write("not #{message}") } } &&
        socket.on_close {} && sleep
    },
    deferrables: ->(socket) {
      2.times { socket.later.receive.callback { |message| socket.write("not #{message}") } } &&
        sleep
    }
  }.freeze

  # What follows, and the code that answers it: a close frame, a frame without a mask, text that is no UTF-8.
  ENDS = {"\x88\x82\0\0\0\0\x0f\xa0".b => 4000, "\x81\x01x".b => 1002, "\x81\x81\0\0\0\0\xff".b => 1007}.freeze

  ANSWERING.each do |style, block|
    define_method("test_messages_before_the_end_are_answered_in_style_#{style}") do
      with_server(->(env) { WebSocket.accept(env, deflate: false, &block) }) do |url|
        ENDS.each do |ending, code|
          stream = raw(url)
          stream.write(frame(:text, "a") + frame(:text, "b") + ending)

          assert_equal [:text, "not a"], next_frame(stream), ending.inspect
          assert_equal [:text, "not b"], next_frame(stream), ending.inspect
          assert_equal code, close_code_of(stream)
        end
      end
    end

    define_method("test_a_client_answers_messages_before_the_end_in_style_#{style}") do
      answer = nil
      two_and_the_end =
        WebSocketPeer.encode(0x81, 1, "a", mask: false) + WebSocketPeer.encode(0x81, 1, "b", mask: false) +
        WebSocketPeer.encode(0x88, 2, "\x0f\xa0", mask: false)
      app = lambda do |env|
        stream = env["rack.hijack"].hijack.tap { |one| shake(one, env) }
        Pelton.spawn do
          stream.read(8) # "go"
          stream.write(two_and_the_end)
          answer = Array.new(3) do
            stream.read(2).unpack("CC").then { |first, length| [first, stream.read(4 + (length & 127))] }
          end
          stream.close
        end
        [101, {}, []]
      end
      with_server(app) do |url|
        socket = WebSocket.connect(url, deflate: false)
        Pelton.spawn { block.call(socket.write("go")) }
        eventually { answer && socket.closed? }

        assert_equal [0x81, 0x81, 0x88], answer.map(&:first)
        assert_equal 4000, socket.close_code
      end
    end
  end

  def test_messages_before_the_end_are_answered_where_no_reactor_runs
    frames = WebSocketPeer.encode(0x81, 4, "both", mask: false) + WebSocketPeer.encode(0x88, 2, "\x0f\xa0", mask: false)
    answer = connecting_to_a_server_of(frames) do |socket|
      socket.write("not #{socket.receive}")

      assert_nil socket.receive
      assert_equal 4000, socket.close_code
    end
    assert_equal [0x81, 0x88], [0, 14].map { |at| answer.getbyte(at) }
  end

  # ---- ends

  def test_a_connection_that_ends_without_a_farewell
    with_server(->(env) { WebSocket.accept(env) { |socket| socket.instance_variable_get(:@stream).abort } }) do |url|
      socket = WebSocket.connect(url)
      told = nil
      socket.on_close { |code, _| told = code }

      assert_nil socket.receive
      assert_equal 1006, told
      assert_raises(Pelton::ClosedError) { socket.write("x") }
      assert_raises(Pelton::ClosedError) { socket.ping }
      assert_nil socket.close
    end
  end

  def test_pings_are_answered
    with_echo do |url|
      socket = WebSocket.connect(url)
      answered = false
      socket.ping("there?") { answered = true }
      eventually { answered }
    end
  end

  def test_a_peer_that_answers_no_pings_is_given_up
    with_server(->(env) { env["rack.hijack"].hijack.tap { |stream| shake(stream, env) } && [101, {}, []] }) do |url|
      socket = WebSocket.connect(url, ping: 0.02)

      assert_nil socket.receive
      assert_equal 1006, socket.close_code
    end
  end

  # What the peer sends meanwhile, answers to pings among it, is not read.
  def test_a_handler_that_takes_long_gives_nobody_up
    with_server(->(env) do
      WebSocket.accept(env) { |socket| 3.times { |number| socket.write(number.to_s) } && socket.receive }
    end) do |url|
      kept = [0.02, 0.3, 2].any? do |ping| # a machine that stands still answers late
        got = []
        WebSocket.connect(url, ping: ping).on_message { |message| sleep(ping * 4) && got << message }.on_close do
          got << :closed
        end
        eventually { got.size == 3 || got.include?(:closed) }
        got == %w[0 1 2]
      end

      assert kept
    end
  end

  # Who asks for messages slowly holds up the sender, and fills no memory.
  def test_backpressure
    sent = 0
    flood = ->(socket) { 300.times { socket.write("\0".b * 100_000) && sent += 1 } }
    with_server(->(env) { WebSocket.accept(env, deflate: false, &flood) }) do |url|
      socket = WebSocket.connect(url)
      assert_equal 100_000, socket.receive.bytesize
      before = nil
      eventually { (before == sent) || ((before = sent) && sleep(0.02) && false) }
      assert_operator sent, :<, 290
      received = 1
      socket.each { received += 1 }

      assert_equal 300, received
    end
  end

  # In direct and in callback style: each is told, and has the time to answer.
  STYLES = {
    direct: ->(socket) { socket.each { |message| socket.write(message) } },
    direct_that_only_writes: ->(socket) { loop { socket.write("tick") && sleep(0.001) } },
    callback: ->(socket) { socket.on_message { |message| socket.write(message) } }
  }.freeze

  STYLES.each do |style, block|
    define_method("test_a_server_that_stops_says_farewell_in_style_#{style}") do
      closed = []
      app = ->(env) do
        WebSocket.accept(env, deflate: false) { |socket| socket.on_close { |*facts| closed << facts }.then(&block) }
      end
      reports = Pelton::Test.unrescued do
        with_server(app) do |url|
          streams = Array.new(3) { raw(url) }
          eventually { @server.attached == 3 }
          stopping = Pelton.spawn { @server.stop }
          streams.each do |stream|
            received = next_frame(stream)
            received = next_frame(stream) while received == [:text, "tick"]

            assert_equal :close, received[0]
            assert_equal [1001, "the server stops"], received[1].unpack("S>a*")
            stream.write(frame(:text, "crosses the farewell"))
          end
          assert_equal :pending, stopping.state
          assert_equal [], closed
          streams.each { |stream| stream.write(frame(:close, [1001].pack("S>"))) }

          assert_equal true, stopping.await
          assert_equal [""] * 3, streams.map(&:read)
          assert_equal [[1001, ""]] * 3, closed
          assert_equal 0, @server.attached
        end
      end

      assert_empty reports
    end
  end

  def test_a_socket_that_opens_while_the_server_stops
    gate = Thread::Queue.new
    with_server(->(env) { gate.pop && WebSocket.accept(env, &STYLES[:direct]) }) do |url|
      socket = Pelton.spawn { WebSocket.connect(url) }
      eventually { @server.stats[:running] == 1 }
      stopping = Pelton.spawn { @server.stop }
      Pelton.next_tick { gate << true }

      assert_nil socket.await.receive
      assert_equal 1001, socket.await.close_code
      assert_equal true, stopping.await
    end
  end

  def test_a_server_remembers_open_sockets_alone
    with_echo do |url|
      socket = WebSocket.connect(url)
      lost = raw(url)
      eventually { @server.attached == 2 }
      socket.close
      lost.abort
      eventually { @server.attached.zero? }
    end
  end

  def test_tls
    context = Pelton::TLS::Context.new(**Certificates.server.to_h)
    with_server(->(env) { WebSocket.accept(env) { |socket| socket.write("secret") } }, tls: context) do |url|
      socket = WebSocket.connect(url.sub("ws:", "wss:").sub("127.0.0.1", "localhost"),
        tls: {ca_file: Certificates.authority})

      assert_equal "secret", socket.receive
    end
  end
end
