# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub"

class PubSubWireTest < PeltonTest
  Wire = Pelton::PubSub::Wire
  RULE = Pelton::PubSub::History::Rule.new(7, 1.5)

  def test_a_message_there_and_back
    [["ä", "text ä", RULE], ["t", "\xff\0".b, nil], ["t", "", RULE]].each do |topic, text, rule|
      kind, body = read(*Wire.publish(topic, text, rule)).first
      assert_equal Wire::PUBLISH, kind
      assert_equal [topic, rule], Wire.topic_and_rule(body)
      got = Wire.parse(read(*Wire.message(Wire::KEPT, 5, 6, body, age: 1.5)).first.last)

      assert_equal [topic, text, rule, 5, 6, 1.5], got.to_a
      assert_equal text.encoding, got.text.encoding
      assert_equal true, got.text.frozen?
    end
    assert_equal ["e", 3], Wire.joined(read(Wire.join("e", 3)).first.last)
  end

  def test_frames_may_come_in_pieces
    frames = [Wire.join(nil, 0), *Wire.publish("t", "x" * 100, nil), Wire.frame(Wire::READY)]
    whole = read(frames.join)
    assert_equal [Wire::JOIN, Wire::PUBLISH, Wire::READY], whole.map(&:first)

    assert_equal whole, read(*frames.join.chars)
    assert_equal whole, read(frames.join.byteslice(0, 3), frames.join.byteslice(3..))
  end

  # It comes in hundreds of pieces, and copying all of them at each would take seconds.
  def test_a_long_frame_is_collected_in_one_buffer
    text = "x" * 200_000
    bytes = Wire.publish("t", text, nil).join
    reader = Wire::Reader.new
    reader << Wire.frame(Wire::READY) << bytes.byteslice(0, 5000)
    assert_equal [Wire::READY, ""], reader.next
    assert_equal [bytes.bytesize - 5000] * 2, [reader.missing, reader.wanted]
    buffers = bytes.byteslice(5000..).scan(/.{1,1000}/m).map do |piece|
      assert_nil reader.next
      reader << piece
      reader.instance_variable_get(:@buffer).object_id
    end

    assert_equal 1, buffers.uniq.size
    assert_equal 0, reader.missing
    assert_equal text, reader.next.last[-200_000..]
  end

  def test_long_parts_are_written_as_they_are
    long = "x" * Wire::LONG
    gathered = Wire.gather(["a", "\xff".b, "ä", long, "b", "c"])

    assert_equal ["a\xffä".b, long, "bc"], gathered
    assert_same long, gathered[1]
  end

  def test_what_is_no_frame
    reader = Wire::Reader.new
    [[Wire::MOST + 1, 1].pack("L>C"), [0, 0].pack("L>C"), [0, 7].pack("L>C")].each do |bytes|
      assert_raises(Wire::Malformed) { read(bytes) }
    end
    assert_nil reader.next
    assert_raises(Wire::Malformed) { Wire.topic_and_rule([1, 50_000, 1, 1].pack("CS>L>G")) }
    assert_raises(Wire::Malformed) { Wire.parse("x" * 20) }
  end

  private

  def read(*pieces)
    reader = Wire::Reader.new
    pieces.flat_map do |piece|
      reader << piece.b
      [].tap do |frames|
        while (frame = reader.next)
          frames << frame
        end
      end
    end
  end
end
