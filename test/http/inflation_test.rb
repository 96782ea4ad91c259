# frozen_string_literal: true

require "zlib"
require_relative "../test_helper"
require_relative "../support/signals"
require "pelton/http"

class InflationTest < PeltonTest
  include Signals

  TEXT = "Asynchronous code is never slower than blocking code. " * 1000

  def test_codings_cut_anywhere
    raw = Zlib::Deflate.new(nil, -Zlib::MAX_WBITS).deflate(TEXT, Zlib::FINISH)
    {"gzip" => Zlib.gzip(TEXT), "x-gzip" => Zlib.gzip(TEXT), "deflate" => Zlib.deflate(TEXT),
     "Deflate" => raw}.each do |coding, bytes|
      (0..bytes.bytesize).step(7) do |cut|
        assert_equal TEXT, inflate(coding, bytes.byteslice(0, cut), bytes.byteslice(cut..)), "#{coding} at #{cut}"
      end
      assert_equal TEXT, inflate(coding, *bytes.chars.map(&:b))
    end
  end

  def test_signals_do_not_disturb
    assert_equal "true", under_signals(<<~RUBY)
      require "pelton/http/inflation"
      text = Random.new(1).bytes(100_000) + "word " * 50_000
      compressed = begin
        Zlib.deflate(text)
      rescue Zlib::BufError
        retry
      end
      inflated = Array.new(500) do
        inflation, all = Pelton::HTTP::Inflation.for("deflate"), "".b
        0.step(compressed.bytesize, 16_384) do |from|
          inflation.add(compressed.byteslice(from, 16_384)) { |piece| all << piece }
        end
        inflation.finish
        all
      end
      print inflated.all?(text)
    RUBY
  end

  def test_gzip_of_several_members
    both = Zlib.gzip("one ") + Zlib.gzip("two ") + Zlib.gzip("three")

    assert_equal "one two three", inflate("gzip", both)
    assert_equal "one two three", inflate("gzip", *both.bytes.map(&:chr))
  end

  def test_other_codings_stay_as_they_are
    assert_nil Pelton::HTTP::Inflation.for("br")
    assert_nil Pelton::HTTP::Inflation.for(nil)
  end

  def test_an_empty_body
    assert_equal "", inflate("gzip")
    assert_equal "", inflate("deflate", "")
  end

  def test_what_is_broken
    assert_raises(Pelton::ProtocolError) { inflate("gzip", "nonsense") }
    assert_raises(Pelton::ProtocolError) { inflate("gzip", Zlib.gzip(TEXT).byteslice(0, 50)) }
    assert_raises(Pelton::ProtocolError) { inflate("deflate", "\xff\xff".b) }
  end

  def test_it_yields_what_it_has_and_no_more
    pieces = []
    bomb = Zlib.gzip("\0" * 5_000_000)
    inflation = Pelton::HTTP::Inflation.for("gzip")
    catch(:enough) do
      inflation.add(bomb) { |piece| (pieces << piece.bytesize) && (throw :enough if pieces.sum > 100_000) }
    end

    assert_operator pieces.sum, :<, 1_000_000
  end

  private

  def inflate(coding, *pieces)
    inflation = Pelton::HTTP::Inflation.for(coding)
    (+"".b).tap do |all|
      pieces.each { |piece| inflation.add(piece) { |out| all << out } }
      inflation.finish
    end
  end
end
