# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton/http"
require "pelton/http/websocket"

class WebSocketTextTest < PeltonTest
  Text = Pelton::HTTP::WebSocketText

  def test_text_cut_anywhere
    bytes = "aä€😀\u{10ffff}\u{800}\u{d7ff}\u{e000}\u{10000}z".b
    (0..bytes.bytesize).to_a.repeated_combination(2) do |from, to|
      text = Text.new
      [bytes.byteslice(0, from), bytes.byteslice(from...to), bytes.byteslice(to..)].each do |piece|
        assert text.valid?(piece)
      end
      assert_predicate text, :complete?
    end
  end

  # Byte by byte, as Ruby has it: a prefix is good if some text begins with it.
  def test_each_beginning_of_a_character
    lead = [0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5,
      0xff]
    follow = [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff]
    beginnings = lead.product([nil, *follow], [nil, *follow]).map(&:compact).uniq
    beginnings.each do |bytes|
      expected = [[], [0x80], [0x90], [0xa0], [0x80, 0x80], [0x90, 0x80], [0xa0, 0x80], [0x90, 0x80, 0x80],
        [0x80, 0x80, 0x80]].any? do |rest|
        (bytes + rest).pack("C*").force_encoding("UTF-8").valid_encoding?
      end
      text = Text.new

      assert_equal expected, !!bytes.all? { |byte| text.valid?(byte.chr) }, bytes.inspect
    end
  end

  def test_a_text_that_ends_within_a_character
    text = Text.new

    assert text.valid?("ok\xe2\x82".b)
    refute_predicate text, :complete?
    assert text.valid?("\xac".b)
    assert_predicate text, :complete?
  end
end
