# frozen_string_literal: true

require "zlib"
require_relative "../test_helper"
require_relative "../support/websocket_peer"

# What comes from clients that are broken, or mean it.
class WebSocketBadInputTest < PeltonTest
  include WebSocketPeer

  WebSocket = Pelton::HTTP::WebSocket

  # ---- frames that a client must not send, and the code that answers them

  BAD = {
    "unmasked" => ["\x81\x01x", 1003],
    "a reserved bit" => ["\xc1\x80\0\0\0\0", 1002],
    "an unknown opcode" => ["\x83\x80\0\0\0\0", 1002],
    "a length with the top bit" => ["\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 1009],
    "a fragmented control frame" => ["\x09\x80\0\0\0\0", 1002],
    "a long control frame" => ["\x89\xfe\x00\x7e\0\0\0\0", 1002],
    "a continuation of nothing" => ["\x80\x80\0\0\0\0", 1002],
    "a new message within another" => ["\x01\x80\0\0\0\0\x81\x80\0\0\0\0", 1002],
    "text that is no UTF-8" => ["\x81\x81\0\0\0\0\xff", 1007],
    "the reserved close code 1005" => ["\x88\x82\0\0\0\0\x03\xed", 1002],
    "the reserved close code 1006" => ["\x88\x82\0\0\0\0\x03\xee", 1002],
    "a character cut in two by fragments that is none" => ["\x01\x81\0\0\0\0\xc3\x80\x81\0\0\0\0\x28", 1007]
  }.freeze

  BAD.each do |name, (bytes, code)|
    define_method("test_bad_frame_#{name.tr(" ", "_")}") do
      closed = nil
      with_server(->(env) { WebSocket.accept(env, deflate: false) { |socket| socket.on_close { |number, _| closed = number }.each { flunk } } }) do |url|
        stream = raw(url)
        stream.write(bytes.b)
        answer = stream.read
        eventually { closed }

        assert_equal code, closed
        assert_equal [0x88, code], answer.unpack("Cx@2S>").then { |first, number| [first, number] }
      end
    end
  end

  # Those of RFC 6455, 7.4, and what is left to applications.
  def test_close_codes
    closed = nil
    app = ->(env) { WebSocket.accept(env, deflate: false) { |socket| socket.on_close { |*facts| closed = facts }.each { flunk } } }
    with_server(app) do |url|
      {[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 4999] => nil, [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535] => 1002}.each do |codes, answer|
        codes.each do |code|
          stream = raw(url)
          stream.write(frame(:close, [code].pack("S>") + "why"))

          assert_equal answer || code, close_code_of(stream), code
          eventually { closed }
          assert_equal [answer || code, "why"], closed
          closed = nil
        end
      end
    end
  end

  def test_close_frames_without_a_code_with_half_of_one_and_with_a_broken_reason
    with_echo(deflate: false) do |url|
      {"" => 1000, "\x03" => 1002, "\x03\xe8\xff" => 1002}.each do |data, code|
        stream = raw(url)
        stream.write(frame(:close, data.b))

        assert_equal code, close_code_of(stream), data.inspect
      end
    end
  end

  def test_what_follows_a_close_is_not_heard
    got = []
    app = ->(env) { WebSocket.accept(env, deflate: false) { |socket| socket.each { |message| got << message } } }
    with_server(app) do |url|
      stream = raw(url)
      stream.write(frame(:text, "before") + frame(:close, [1000].pack("S>")) + frame(:text, "after") + frame(:ping, "after"))

      assert_equal 1000, close_code_of(stream)
    end
    assert_equal ["before"], got
  end

  # ---- text in fragments

  def test_text_cut_anywhere_by_fragments
    text = "ä€😀"
    with_echo(deflate: false) do |url|
      stream = raw(url)
      (0..text.bytesize).each do |cut|
        # A ping within the message is answered within it.
        stream.write(frame(:text, text.byteslice(0, cut), fin: false) + frame(:ping, "p") + frame(:continuation, text.byteslice(cut..)))

        assert_equal [[:pong, "p"], [:text, text.b]], [next_frame(stream), next_frame(stream)]
      end
    end
  end

  # Overlong, a surrogate, beyond Unicode, cut off, a byte that stands nowhere, continuation alone.
  ["\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ok\xe2\x82", "ok\xff", "\x80"].each_with_index do |text, index|
    define_method("test_text_that_is_no_utf_8_cut_anywhere_by_fragments_#{index}") do
      with_echo(deflate: false) do |url|
        (0..text.bytesize).each do |cut|
          stream = raw(url)
          stream.write(frame(:text, text.byteslice(0, cut), fin: false) + frame(:continuation, text.byteslice(cut..)))

          assert_equal 1007, close_code_of(stream)
        end
      end
    end
  end

  # ---- limits

  def test_fragments_that_are_too_long_together
    with_echo(deflate: false, max_message: 1000) do |url|
      stream = raw(url)
      stream.write(frame(:text, "x" * 600, fin: false) + frame(:continuation, "x" * 401, fin: false))

      assert_equal 1009, close_code_of(stream)
      stream = raw(url)
      stream.write(frame(:text, "x" * 600, fin: false) + frame(:continuation, "x" * 400))

      assert_equal 1000, next_frame(stream).last.bytesize
    end
  end

  # Refused by its first bytes, not when all of it is there.
  def test_a_frame_that_announces_too_much
    with_echo(deflate: false, max_message: 1000) do |url|
      ["\x82\xfe\x03\xe9", "\x82\xff\0\0\0\0\0\0\x03\xe9", "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff"].each do |head|
        stream = raw(url)
        stream.write(head.b)

        assert_equal 1009, close_code_of(stream)
      end
    end
  end

  # 50 MB in 50 KB (websocket-driver CVE-2026-54464), in one frame and in two.
  def test_a_bomb_is_not_inflated
    bomb = Zlib::Deflate.new(nil, -15).deflate("\0" * 50_000_000, Zlib::SYNC_FLUSH)[0...-4]
    with_echo(max_message: 100_000) do |url|
      [frame(:text, bomb, rsv1: true), frame(:text, bomb[0, 99], rsv1: true, fin: false) + frame(:continuation, bomb[99..])].each do |bytes|
        stream = raw(url, "Sec-WebSocket-Extensions: permessage-deflate\r\n")
        stream.write(bytes)

        assert_equal 1009, close_code_of(stream)
      end
    end
  end

  def test_what_is_not_compressed_though_it_says_so
    with_echo do |url|
      {frame(:text, "\xff\xff\xff", rsv1: true) => 1010, frame(:ping, "x", rsv1: true) => 1002,
       frame(:text, "x", fin: false) + frame(:continuation, "y", rsv1: true) => 1002}.each do |bytes, code|
        stream = raw(url, "Sec-WebSocket-Extensions: permessage-deflate\r\n")
        stream.write(bytes)

        assert_equal code, close_code_of(stream)
      end
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

  # Fragments without bytes cost time and no memory: others have their turn between them, and the message is whole in the end.
  def test_a_flood_of_empty_fragments_holds_up_nobody
    turns = 0
    with_echo(deflate: false, ping: nil) do |url|
      stream = raw(url)
      other = raw(url)
      flood = Pelton.spawn { stream.write(frame(:text, "a", fin: false) + frame(:continuation, fin: false) * (50_000 / SLOW) + frame(:continuation, "z")) && next_frame(stream) }
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
end
