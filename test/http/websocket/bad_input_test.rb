# frozen_string_literal: true

require "zlib"
require_relative "../../test_helper"
require_relative "../../support/websocket_peer"

# What comes from clients that are broken, or mean it, and from servers.
class WebSocketBadInputTest < PeltonTest
  include WebSocketPeer

  WebSocket = Pelton::HTTP::WebSocket

  # ---- frames that nobody must send (RFC 6455, 5.2 to 5.5, 7.4), and the code that answers them; the frames
  # as WebSocketPeer.encode takes them. (All of them, cut anywhere: frames_test.rb.)

  BAD = {
    "a reserved bit" => [[[0xc1, 0]], 1002],
    "a length with the top bit" => [[[0x82, 1 << 63]], 1002],
    "a fragmented ping" => [[[0x09, 0]], 1002],
    "a new message within another" => [[[0x01, 0], [0x81, 0]], 1002],
    "a character cut in two by fragments that is none" => [[[0x01, 1, "\xc3"], [0x80, 1, "\x28"]], 1007],
    "a close code that is reserved" => [[[0x88, 2, [1005].pack("S>")]], 1002],
    "a close with a reason that is no UTF-8" => [[[0x88, 4, "\x03\xe8\xc3\x28"]], 1007]
  }.freeze

  BAD.each do |name, (frames, code)|
    define_method("test_a_client_sends_#{name.tr(" ", "_")}") do
      assert_equal [code] * 2, codes_of_server(frames.map { |facts| WebSocketPeer.encode(*facts, mask: true) }.join)
    end

    define_method("test_a_server_sends_#{name.tr(" ", "_")}") do
      assert_equal [code] * 2, codes_of_client(frames.map { |facts| WebSocketPeer.encode(*facts, mask: false) }.join)
    end
  end

  # RFC 6455, 5.1.
  def test_a_client_sends_a_frame_without_a_mask
    assert_equal [1002, 1002], codes_of_server(WebSocketPeer.encode(0x81, 1, "x", mask: false))
    assert_equal [1002, 1002], codes_of_server(WebSocketPeer.encode(0x88, 2, [1000].pack("S>"), mask: false))
  end

  def test_a_server_sends_a_frame_with_a_mask
    assert_equal [1002, 1002], codes_of_client(WebSocketPeer.encode(0x81, 1, "x", mask: true))
    assert_equal [1002, 1002], codes_of_client(WebSocketPeer.encode(0x89, 0, "", mask: true))
  end

  def test_a_server_sends_a_frame_with_a_mask_where_no_reactor_runs
    frames = WebSocketPeer.encode(0x81, 4, "good", mask: false) + WebSocketPeer.encode(0x81, 3, "bad", mask: true)
    answer = connecting_to_a_server_of(frames) do |socket|
      assert_equal "good", socket.receive
      assert_nil socket.receive
      assert_equal 1002, socket.close_code
    end

    assert_equal 1002, unmasked(answer).unpack1("S>")
  end

  # ---- what comes when this side has said farewell, and waits for the peer's

  {"a frame that announces too much" => [0x82, 17 << 20], "a frame that announces far too much" => [0x82, 1 << 62],
   "a length with the top bit" => [0x82, 1 << 63],
   "a long ping" => [0x89, 100_000]}.each do |name, (first, length)|
    define_method("test_after_our_farewell_comes_#{name.tr(" ", "_")}") do
      closed = []
      with_server(->(env) do
        WebSocket.accept(env, deflate: false) { |socket| socket.on_close { |code, _| closed << code }.close }
      end) do |url|
        stream = raw(url)
        assert_equal [:close, [1000].pack("S>")], next_frame(stream)
        stream.write(WebSocketPeer.encode(first, length, mask: true))
        eventually { closed.any? }

        assert_equal [(length == 17 << 20 || length == 1 << 62) ? 1009 : 1002], closed
        assert_equal "", stream.read
      end
    end
  end

  def test_after_our_farewell_come_fragments_that_are_too_long_together
    closed = []
    app = ->(env) do
      WebSocket.accept(env, deflate: false, max_message: 1000) do |socket|
        socket.on_close { |code, _| closed << code }.close
      end
    end
    with_server(app) do |url|
      stream = raw(url)
      stream.write(frame(:text, "x" * 1000, fin: false) + frame(:continuation, "x"))
      eventually { closed.any? }

      assert_equal [1009], closed
    end
  end

  # ---- what this side is asked to send, and must not

  def test_what_must_not_be_sent
    with_echo do |url|
      socket = WebSocket.connect(url)

      [0, 999, 1004, 1005, 1006, 1015, 2999, 5000].each { |code| assert_raises(ArgumentError) { socket.close(code) } }
      assert_raises(ArgumentError) { socket.close(1000, "x" * 124) }
      assert_raises(ArgumentError) { socket.close(1000, "\xff") }
      assert_raises(ArgumentError) { socket.ping("x" * 126) }
      assert_raises(ArgumentError) { socket.write("\xff") }
      socket.ping("x" * 125).write("\xff".b)
      assert_equal "\xff".b, socket.receive
      socket.close(4999, "x" * 123)
      assert_nil socket.receive
      assert_equal 4999, socket.close_code
      assert_equal "x" * 123, socket.close_reason
    end
  end

  def test_what_follows_a_close_is_not_heard
    got = []
    app = ->(env) { WebSocket.accept(env, deflate: false) { |socket| socket.each { |message| got << message } } }
    with_server(app) do |url|
      stream = raw(url)
      stream.write(frame(:text, "before") + frame(:close, [1000].pack("S>")) + frame(:text, "after") + frame(:ping,
        "after"))

      assert_equal 1000, close_code_of(stream)
    end
    assert_equal ["before"], got
  end

  # ---- limits

  # Refused by its first bytes, not when all of it is there.
  def test_a_frame_that_announces_too_much
    with_echo(deflate: false, max_message: 1000) do |url|
      ["\x82\xfe\x03\xe9", "\x82\xff\0\0\0\0\0\1\0\0", "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff"].each do |head|
        stream = raw(url)
        stream.write(head.b)

        assert_equal 1009, close_code_of(stream)
      end
    end
  end

  # Whoever closes while bytes come that nobody reads has the connection reset, and its last word lost.
  def test_who_sends_far_too_much_sees_why_it_is_closed
    with_echo(deflate: false, max_message: 1000) do |url|
      stream = raw(url)
      stream.write(frame(:text, "x" * 5_000_000))

      assert_equal 1009, close_code_of(stream)
    end
  end

  # ---- floods

  # Each answer would wait in memory.
  def test_a_flood_of_pings_by_who_reads_nothing_is_held_up
    with_echo(deflate: false) do |url|
      stream = raw(url)
      frames = "\x89\xfd\0\0\0\0#{"p" * 125}".b * 8000
      flood = Pelton.spawn { 30.times { stream.write(frames) } }
      sleep 0.2

      assert_equal :pending, flood.state
      stream.abort
      assert_raises(Pelton::ClosedError) { flood.await }
    end
  end

  # Fragments without bytes cost time and no memory: others have their turn between them, and the message is whole in
  # the end.
  def test_a_flood_of_empty_fragments_holds_up_nobody
    turns = 0
    with_echo(deflate: false, ping: nil) do |url|
      stream = raw(url)
      other = raw(url)
      flood = Pelton.spawn do
        stream.write(
          frame(:text, "a", fin: false) + frame(:continuation, fin: false) * (50_000 / SLOW) + frame(:continuation, "z")
        ) &&
          next_frame(stream)
      end
      while flood.state == :pending
        other.write(frame(:text, "hello"))

        assert_equal [:text, "hello"], next_frame(other)
        turns += 1
      end

      assert_equal [:text, "az"], flood.await
    end
    assert_operator turns, :>, 10 / SLOW
  end

  def test_pongs_that_nobody_asked_for
    with_echo(deflate: false) do |url|
      stream = raw(url)
      stream.write(frame(:pong, "what?") * 1000 + frame(:text, "hello"))

      assert_equal [:text, "hello"], next_frame(stream)
    end
  end

  # Who was to be told is still told.
  def test_a_peer_that_leaves_behind_a_bad_frame
    left = nil
    app = lambda do |env|
      WebSocket.accept(env) do |socket|
        socket.each { |_message| nil }
        left = socket.close_code
      end
    end
    Pelton.run do
      server = Pelton::HTTP::Server.new(app)
      ours, theirs = UNIXSocket.pair
      server.serve(Pelton::Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno))
      stream = Pelton::Stream.for_fd(theirs.tap { |io| io.autoclose = false }.fileno)
      shake_hands(stream)
      stream.write(WebSocketPeer.encode(0xf1, 0, mask: true))
      stream.close
      sleep 0.002 until left
    end
    assert_equal 1002, left
  end

  private

  # The code that the server sends back, and the one that its application learns.
  def codes_of_server(bytes)
    answer = closed = nil
    with_server(->(env) do
      WebSocket.accept(env, deflate: false) { |socket| socket.on_close { |code, _| closed = code }.each { flunk } }
    end) do |url|
      stream = raw(url)
      stream.write(bytes)
      answer = stream.read
      eventually { closed }
    end
    assert_equal 0x88, answer.getbyte(0)
    [answer.unpack1("x2S>"), closed]
  end

  # The same of a client.
  def codes_of_client(bytes)
    answer = closed = nil
    with_server(->(env) do
      env["rack.hijack"].hijack.then { |stream| Pelton.spawn { answer = converse(stream, env, bytes) } } &&
        [101, {}, []]
    end) do |url|
      socket = WebSocket.connect(url, deflate: false)
      assert_nil socket.receive
      closed = socket.close_code
      eventually { answer }
    end
    assert_equal 0x88, answer.getbyte(0)
    [unmasked(answer).unpack1("S>"), closed]
  end

  def converse(stream, env, bytes)
    shake(stream, env)
    stream.write(bytes)
    stream.read.tap { stream.close }
  end

  def unmasked(frame)
    key, payload = frame.unpack("x2a4a*")
    payload.bytes.each_with_index.map { |byte, index| byte ^ key.getbyte(index & 3) }.pack("C*")
  end
end
