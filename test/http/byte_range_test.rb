# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/http"

class HTTPByteRangeTest < PeltonTest
  def of(header, size = 10) = Pelton::HTTP::ByteRange.of(header, size)

  def test_one_range
    {"bytes=0-0" => 0..0, "BYTES=2-4" => 2..4, "bytes=9-" => 9..9, "bytes=-3" => 7..9, "bytes=-11" => 0..9,
     "bytes=5-99999999999999999999" => 5..9}.each { |header, range| assert_equal range, of(header), header }
  end

  def test_beyond_the_end
    ["bytes=10-", "bytes=99999999999999999999-", "bytes=-0"].each { |header| assert_equal false, of(header), header }
    assert_equal false, of("bytes=-5", 0)
  end

  def test_the_whole
    [nil, "", "bytes=", "bytes=-", "bytes=4-2", "bytes=0-1,3-4", "bytes=a-", "lines=1-2",
      "bytes=1", "bytes=0-1\n"].each do |header|
      assert_nil of(header), header.inspect
    end
  end
end
