# frozen_string_literal: true

require "zlib"
require_relative "../../test_helper"
require "pelton/http"

# With the gems of the other codings: test/integration/compression_test.rb.
class HTTPCompressionCodersTest < PeltonTest
  CODERS = Pelton::HTTP::Compression.const_get(:Coders)

  def gzip(level = 4) = CODERS.present(level).last

  def test_gzip_is_always_there
    assert_equal "gzip", gzip.name
  end

  def test_a_whole_text
    ["", "a", "word " * 5000].each { |text| assert_equal text, Zlib.gunzip(gzip.whole(text)) }
  end

  def test_a_stream
    stream = gzip.stream
    text = Zlib.gunzip(stream.part("one") + stream.part("two") + stream.finish)
    stream.close

    assert_equal "onetwo", text
  end
end
