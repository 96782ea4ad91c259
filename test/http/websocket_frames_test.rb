# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/websocket_peer"

# What is judged of frames, however they are cut; on connections: websocket_bad_input_test.rb.
class WebSocketFramesTest < PeltonTest
  Frames = Pelton::HTTP::WebSocketFrames

  # A server's frame.
  def self.frame(first, payload = "", width: nil, length: payload.bytesize) = WebSocketPeer.encode(first, length, payload, width, mask: false)

  GOOD = [
    frame(0x81, "hello"), frame(0x82), frame(0x82, "x" * 126), frame(0x89, "x" * 125), frame(0x8a),
    frame(0x01, "a") + frame(0x89, "between") + frame(0x00) + frame(0x80, "b")
  ].freeze

  # What is wrong, and the code.
  BAD = {
    "\x81\x80\0\0\0\0".b => 1002, # masked
    frame(0x82, width: 126, length: 125) => 1002,
    frame(0x82, width: 127, length: 65_535) => 1002,
    frame(0x82, length: 1 << 63) => 1002,
    frame(0x89, length: 126) => 1002,
    frame(0x88, length: 1 << 40) => 1002,
    frame(0x82, length: 201) => 1009,
    frame(0x82, length: 1 << 62) => 1009,
    frame(0x88, "\x03\xe8\xff".b) => 1007,
    frame(0x88, "\x03\xf4later".b) => 1012
  }.freeze

  def test_good_frames_cut_anywhere
    bytes = GOOD.join
    each_cut(bytes) { |pieces| assert_nil judge(pieces) }
    assert_nil judge([GOOD.join * 100])
    assert_nil judge([bytes + frame(0x88, "\x03\xe8well".b)])
  end

  # Within the frame itself: the driver has all before it, and not all of it.
  def test_bad_frames_cut_anywhere
    BAD.each do |bad, code|
      [GOOD.first, frame(0x01, "x" * 200) + frame(0x89)].each do |good|
        next if good != GOOD.first && code == 1009
        each_cut(good + bad) { |pieces| assert_judged good, bad, code, pieces }
      end
    end
  end

  def test_fragments_that_are_too_long_together_cut_anywhere
    good = frame(0x01, "x" * 200) + frame(0x89) + frame(0x00)
    bad = frame(0x80, length: 1)
    each_cut(good + bad) { |pieces| assert_judged good, bad, 1009, pieces }
    assert_nil judge([good + frame(0x80) + frame(0x81, "x" * 200)])
  end

  def test_masks_cut_anywhere
    mask = "\1\2\3\4".b
    masked = ->(text) { text.bytes.each_with_index.map { |byte, index| byte ^ mask.getbyte(index & 3) }.pack("C*") }
    good = "\x81\x85".b + mask + masked["hello"]
    close = "\x88\x87".b + mask + masked["\x03\xf6later"]
    each_cut(good + close) do |pieces|
      fault = nil
      frames = Frames.new(masked: true, limit: 200)
      pieces.each { |piece| fault ||= frames.look(piece) }

      assert_equal [1014, "later"], [fault.code, fault.reason]
    end
    assert_equal 1002, Frames.new(masked: true, limit: 200).look(good + "\x81\x00".b).code
  end

  private

  def frame(...) = self.class.frame(...)

  # Whole, byte by byte, and in two at every place.
  def each_cut(bytes)
    yield [bytes]
    yield bytes.bytes.map(&:chr)
    (1...bytes.bytesize).each { |cut| yield [bytes.byteslice(0, cut), bytes.byteslice(cut..)] }
  end

  def assert_judged(good, bad, code, pieces)
    at, found = judge(pieces)

    assert_equal code, found, bad.inspect
    assert_includes good.bytesize...(good + bad).bytesize, at, bad.inspect
  end

  # The bytes that the driver would have had, and the code.
  def judge(pieces)
    frames = Frames.new(masked: false, limit: 200)
    at = 0
    pieces.each do |piece|
      fault = frames.look(piece)
      return [at + fault.good, fault.code] if fault
      at += piece.bytesize
    end
    nil
  end
end
