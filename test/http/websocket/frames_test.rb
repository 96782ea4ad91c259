# frozen_string_literal: true

require "zlib"
require_relative "../../test_helper"
require_relative "../../support/effort"
require_relative "../../support/websocket_peer"

# What is read of frames, however they are cut; on connections: bad_input_test.rb.
class WebSocketFramesTest < PeltonTest
  include Effort

  Frames = Pelton::HTTP::WebSocketFrames

  # A server's frame.
  def self.frame(first, payload = "", width: nil, length: payload.bytesize)
    WebSocketPeer.encode(first, length, payload, width, mask: false)
  end

  GOOD = {
    frame(0x81, "hello") => [1, "hello"], frame(0x82) => [2, ""], frame(0x82, "x" * 126) => [2, "x" * 126],
    frame(0x89, "x" * 125) => [9, "x" * 125],
    frame(0x8a) => [10, ""], frame(0x81, "ä€😀") => [1, "ä€😀"], frame(0x88, "\x03\xf6later".b) => [8, "\x03\xf6later".b]
  }.freeze

  # What is wrong, and the code.
  BAD = {
    "\x81\x80\0\0\0\0".b => 1002, # masked
    **[0xc1, 0xa1, 0x91].to_h { |reserved_bit| [frame(reserved_bit), 1002] },
    **[*3..7, *11..15].to_h { |reserved_opcode| [frame(0x80 | reserved_opcode), 1002] },
    **[0x08, 0x09, 0x0a].to_h { |fragmented_control| [frame(fragmented_control), 1002] },
    **[0x88, 0x89, 0x8a].product([126, 65_536, 1 << 40])
      .to_h { |control, length| [frame(control, length: length), 1002] },
    **[[125, 126], [0, 127], [65_535, 127]].to_h { |length, width| [frame(0x82, width: width, length: length), 1002] },
    frame(0x89, "hello", width: 126) => 1002,
    frame(0x82, length: 1 << 63) => 1002,
    frame(0x82, length: (1 << 64) - 1) => 1002,
    frame(0x80) => 1002, # the continuation of nothing
    frame(0x81, "ok\xff".b) => 1007,
    frame(0x81, "\xe2\x82".b) => 1007,
    frame(0x82, length: 201) => 1009,
    frame(0x82, length: 1 << 62) => 1009
  }.freeze

  # Overlong, a surrogate, beyond Unicode, cut off, a byte that stands nowhere, a continuation alone.
  NO_TEXT = ["\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ok\xe2\x82", "ok\xff", "\x80"].map(&:b).freeze

  # Twice as much of what a peer sends costs twice as much.
  def test_what_it_costs_grows_with_what_was_sent
    frame = self.class.method(:frame)
    pieces = ->(bytes, size) { (0...bytes.bytesize).step(size).map { |at| bytes.byteslice(at, size) } }
    within = ->(frames) { [frame.call(0x01, "ä"), *frames, frame.call(0x80, "ä")] }
    {
      "a message in pieces" => ->(size) { pieces.call(frame.call(0x81, "ä" * size * 8), 64) },
      "fragments" => ->(size) { within.call([frame.call(0x00, "ä" * 10)] * size) },
      "fragments in one piece" => ->(size) { [within.call([frame.call(0x00, "ä")] * size).join] },
      "empty fragments" => ->(size) { within.call([frame.call(0x00)] * size) },
      "messages in one piece" => ->(size) { [frame.call(0x81, "ä") * size] },
      "pings within a message" => ->(size) { within.call([frame.call(0x89, "p")] * size) }
    }.each do |name, make|
      inputs = [100, 200, 400].to_h { |size| [size, make.call(size)] }
      assert_linear(name, 200) do |size|
        frames = Frames.new(masked: false, limit: 1 << 20)
        inputs.fetch(size).each do |bytes|
          frames << bytes.dup
          nil while frames.next
        end
      end
    end
  end

  def test_good_frames_cut_anywhere
    each_cut(GOOD.keys.join) do |pieces|
      events, code = read(pieces)

      assert_nil code
      assert_equal GOOD.values, events
      assert_equal(GOOD.values.map { |opcode, data| (opcode == 1) ? Encoding::UTF_8 : data.encoding }.first,
        events.first.last.encoding)
    end
    assert_equal GOOD.values * 100, read([GOOD.keys.join * 100]).first
  end

  def test_encodings
    events, =
      read([frame(0x81, "a") + frame(0x82, "a") + frame(0x01, "a") + frame(0x80, "b") + frame(0x02, "a") + frame(0x80,
        "b")])

    assert_equal [Encoding::UTF_8, Encoding::BINARY] * 2, events.map { |_, data| data.encoding }
  end

  def test_fragments_cut_anywhere
    frames =
      frame(0x01, "a\xc3".b) + frame(0x89, "between") + frame(0x00) + frame(0x00, "\xa4\xe2".b) +
      frame(0x80, "\x82\xac".b) + frame(0x81, "next")
    each_cut(frames) { |pieces| assert_equal [[[9, "between"], [1, "aä€"], [1, "next"]], nil], read(pieces) }
  end

  # All that is before a bad frame is there.
  def test_bad_frames_cut_anywhere
    BAD.each do |bad, code|
      each_cut(frame(0x82, "x") + bad) { |pieces| assert_equal [[[2, "x"]], code], read(pieces), bad.inspect }
    end
    each_cut(frame(0x01, "x") + frame(0x81, "y")) { |pieces| assert_equal [[], 1002], read(pieces) }
  end

  def test_text_that_is_none_cut_anywhere_by_fragments
    NO_TEXT.each do |text|
      (0..text.bytesize).each do |cut|
        assert_equal [[], 1007], read([frame(0x01, text.byteslice(0, cut)) + frame(0x80, text.byteslice(cut..))]),
          [text, cut].inspect
      end
    end
  end

  def test_fragments_that_are_too_long_together_cut_anywhere
    good = frame(0x02, "x" * 200) + frame(0x89) + frame(0x00)
    each_cut(good + frame(0x80, length: 1)) { |pieces| assert_equal [[[9, ""]], 1009], read(pieces) }
    assert_equal [2, 200], read([good + frame(0x80)]).first.last.then { |opcode, data| [opcode, data.bytesize] }
  end

  def test_masks_cut_anywhere
    text = "a message of ä and €"
    masked = ->(first, data) do
      [first, 0x80 | data.bytesize].pack("CC") + "\1\2\3\4" + ::WebSocket::Mask.mask(data.b, "\1\2\3\4".b)
    end
    each_cut(masked[0x01, text] + masked[0x80, text] + masked[0x8a, "pong"]) do |pieces|
      assert_equal [[[1, text * 2], [10, "pong"]], nil], read(pieces, masked: true)
    end
    each_cut(masked[0x81, "#{"x" * 99}\xff"]) { |pieces| assert_equal [[], 1007], read(pieces, masked: true) }
    assert_equal [[], 1002], read([frame(0x81, "x")], masked: true)
  end

  # Nobody waits for the rest of a long message.
  def test_text_is_refused_by_its_first_byte_that_is_no_utf_8
    {"ok\xff" => 3, "\xed\xa0" => 2, "\xc0" => 1, "\xf4\x90" => 2, "a\xe2\x28" => 3}.each do |text, length|
      head = frame(0x81, length: 150)
      frames = Frames.new(masked: false, limit: 200)
      assert_nil (frames << head).next
      text.b.bytes.each_with_index do |byte, index|
        frames << byte.chr
        if index + 1 < length
          assert_nil frames.next
        else
          assert_equal 1007, assert_raises(Frames::Fault) { frames.next }.code
        end
      end
    end
  end

  def test_compressed_messages
    deflate = Pelton::HTTP::WebSocketDeflate.new(15, 15, 200)
    data = deflate.deflate("ä" * 100)
    bytes = frame(0xc1, data) + frame(0x41, data.byteslice(0, 3)) + frame(0x80, data.byteslice(3..)) + frame(0x81,
      "plain")
    each_cut(bytes) do |pieces|
      assert_equal [[[1, "ä" * 100], [1, "ä" * 100], [1, "plain"]], nil], read(pieces, deflate: deflate)
    end
    {frame(0xc1, deflate.deflate("x" * 201)) => 1009, frame(0xc1, "\xff\xff".b) => 1010,
     frame(0xc1, deflate.deflate("\xff".b)) => 1007, frame(0xc9) => 1002,
     frame(0x01) + frame(0xc0) => 1002}.each do |bad, code|
       assert_equal [[], code], read([bad], deflate: deflate), bad.inspect
     end
  end

  def test_how_much_is_missing
    frames = Frames.new(masked: false, limit: 200)
    assert_equal 0, frames.missing
    (frames << frame(0x82, length: 150)).next
    assert_equal 150, frames.missing
    (frames << ("x" * 100).b).next
    assert_equal 50, frames.missing
    (frames << ("x" * 50).b).next
    assert_equal 0, frames.missing
  end

  def test_what_a_close_frame_says
    assert_equal [1000, ""], Frames.close_facts("")
    assert_equal [4321, "why €"], Frames.close_facts([4321].pack("S>") + "why €".b)
    [1000..1003, 1007..1014, 3000..4999].flat_map(&:to_a).each do |code|
      assert_equal [code, ""], Frames.close_facts([code].pack("S>"))
    end
    bad = [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535].map { |code| [[code].pack("S>"), 1002] }
    [*bad, ["\x03", 1002], ["\x03\xe8\xff", 1007]].each do |payload, code|
      assert_equal code, assert_raises(Frames::Fault) { Frames.close_facts(payload.b) }.code, payload.inspect
    end
  end

  private

  def frame(...) = self.class.frame(...)

  # Whole, byte by byte, and in two at every place.
  def each_cut(bytes)
    yield [bytes]
    yield bytes.bytes.map(&:chr)
    (1...bytes.bytesize).each { |cut| yield [bytes.byteslice(0, cut), bytes.byteslice(cut..)] }
  end

  # The messages and control frames, and the code of the fault that ended them.
  def read(pieces, masked: false, deflate: nil)
    frames = Frames.new(masked: masked, limit: 200, deflate: deflate)
    events = []
    pieces.each do |piece|
      frames << piece.dup
      while (event = frames.next)
        events << event
      end
    end
    [events, nil]
  rescue Frames::Fault => fault
    [events, fault.code]
  end
end
