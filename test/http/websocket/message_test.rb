# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/http/websocket"

class WebSocketMessageTest < PeltonTest
  Message = Pelton::HTTP::WebSocketMessage

  def test_frames_of_all_lengths
    [0, 125, 126, 65_535, 65_536].each do |length|
      [false, true].each do |masked|
        frames = Pelton::HTTP::WebSocketFrames.new(masked: masked, limit: 100_000)

        assert_equal [2, "x" * length], (frames << Message.new("x".b * length).frame(nil, masked: masked)).next
      end
    end
    assert_equal "\x81\x05hello".b, Message.new("hello").frame(nil, masked: false)
  end

  def test_text_and_bytes
    assert_equal [1, "ä"], read(Message.new("ä"))
    assert_equal [1, "ä"], read(Message.new("ä".encode("UTF-16LE")))
    assert_equal [2, "\xff".b], read(Message.new("\xff".b))
    assert_raises(ArgumentError) { Message.new("\xff") }
    assert_raises(TypeError) { Message.new(nil) }
  end

  # One frame for all who share it: the same object, so that streams can refer to its bytes.
  def test_a_message_is_encoded_and_compressed_once
    message = Message.new("abc " * 1000)
    small, large, other = [9, 15, 15].map { |bits| Pelton::HTTP::WebSocketDeflate.new(bits, 15, 10_000) }

    assert_same message.frame(nil, masked: false), message.frame(nil, masked: false)
    assert_same message.frame(large, masked: false), message.frame(other, masked: false)
    refute_same message.frame(large, masked: false), message.frame(small, masked: false)
    assert_predicate message.frame(large, masked: false), :frozen?
    assert_operator message.frame(large, masked: false).bytesize, :<, 100
    assert_equal [1, "abc " * 1000], read(message, large)
  end

  # RFC 6455, 5.3: a client's masks are its own secret, for each frame another.
  def test_each_masked_frame_has_a_mask_of_its_own
    message = Message.new("hello")

    refute_equal message.frame(nil, masked: true), message.frame(nil, masked: true)
  end

  def test_short_messages_are_not_compressed
    deflate = Pelton::HTTP::WebSocketDeflate.new(15, 15, 1000)

    assert_equal [0x81, 0xc1],
      [511, 512].map { |length| Message.new("x" * length).frame(deflate, masked: false).getbyte(0) }
  end

  private

  def read(message, deflate = nil)
    (Pelton::HTTP::WebSocketFrames.new(masked: false, limit: 10_000, deflate: deflate) << message.frame(deflate,
      masked: false)).next
  end
end
