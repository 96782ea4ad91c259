# frozen_string_literal: true

require "zlib"
require_relative "../test_helper"
require_relative "../support/signals"
require "pelton/http"

class HTTPDeflationTest < PeltonTest
  include Signals

  TEXTS = ["", "a", "word " * 5000, Random.new(3).bytes(100_000), "word " * 5000].freeze

  # Nothing of one text is in the next one, in whatever order they come.
  def test_each_text_stands_for_itself
    [1, 6].each do |level|
      (TEXTS * 3).each { |text| assert_equal text.b, inflate(Pelton::HTTP::Deflation.deflate(text, level)) }
    end
  end

  def test_threads_do_not_share_a_stream
    texts = Array.new(8) { |number| "text #{number} " * 50_000 }
    deflated =
      texts.map { |text| Thread.new { Array.new(5) { Pelton::HTTP::Deflation.deflate(text, 1) } } }.map(&:value)

    texts.zip(deflated) { |text, all| all.each { |one| assert_equal text, inflate(one) } }
  end

  # A text that compresses others while it is asked for its bytes, as another thread could.
  class Nested
    def initialize(left, level)
      @left, @level = left, level
    end

    def to_str
      Pelton::HTTP::Deflation.gzip(Nested.new(@left - 1, @level), @level) if @left > 0
      "text"
    end
  end

  def test_two_streams_of_a_level_are_kept_and_others_closed
    before = open_streams
    Pelton::HTTP::Deflation.gzip(Nested.new(4, 7), 7)

    assert_equal 2, (open_streams - before).size
  end

  def test_a_mistake_leaves_nothing_behind
    assert_raises(TypeError) { Pelton::HTTP::Deflation.deflate([1], 1) }
    assert_equal "a", inflate(Pelton::HTTP::Deflation.deflate("a", 1))
  end

  # zlib's stream ends with an error where a signal interrupts it at its end.
  def test_signals_do_not_disturb
    assert_equal "1", under_signals(<<~RUBY)
      text = "word " * 2000
      print Array.new(20_000) { Pelton::HTTP::Deflation.deflate(text, 1) }.uniq.size
    RUBY
  end

  private

  def open_streams = ObjectSpace.each_object(Zlib::Deflate).reject(&:closed?)

  def inflate(deflated)
    zlib = Zlib::Inflate.new(-Zlib::MAX_WBITS)
    zlib.inflate("#{deflated}\x03\x00".b)
  ensure
    zlib.close
  end
end
