# frozen_string_literal: true

require "test_helper"
require "digest"
require "pelton/lab/pattern"

class LabPatternTest < PeltonTest
  Pattern = Pelton::Lab::Pattern

  def test_blocks_make_up_the_number_of_bytes
    [0, 1, Pattern::BLOCK.bytesize, 200_000].each do |bytes|
      assert_equal bytes, Pattern.each_block(bytes).sum(&:bytesize)
    end
  end

  def test_no_block_is_empty
    assert_empty Pattern.each_block(0).to_a
    assert_equal [Pattern::BLOCK], Pattern.each_block(Pattern::BLOCK.bytesize).to_a
  end

  def test_the_same_in_every_process
    code = 'require "pelton/lab/pattern"; print Pelton::Lab::Pattern.digest(200_000)'

    assert_equal Pattern.digest(200_000), ruby_output(code)
    assert_equal Digest::SHA256.hexdigest(Pattern.each_block(200_000).to_a.join), Pattern.digest(200_000)
  end

  def test_a_piece_out_of_its_place_is_seen
    bytes = Pattern.each_block(200_000).to_a.join
    moved = bytes.byteslice(65_536, 65_536) + bytes.byteslice(0, 65_536) + bytes.byteslice(131_072..)

    refute_equal Pattern.digest(200_000), Digest::SHA256.hexdigest(moved)
  end
end
