# frozen_string_literal: true

require "zlib"
require_relative "../test_helper"
require "pelton/http"

class HTTPFragmentTest < PeltonTest
  Fragment = Pelton::HTTP::Fragment

  TEXTS = ["", "a", "æøå " * 400, "\0\xff".b * 3, Random.new(1).bytes(200_000)].freeze

  def test_the_text_and_the_deflated_text
    TEXTS.each do |text|
      [Fragment.new(text), Fragment.new(text, level: 1), Fragment.secret(text)].each do |fragment|
        assert_equal text, fragment.text
        assert_equal text.bytesize, fragment.bytesize
        assert_equal text.b, inflate(fragment.deflated)
      end
    end
  end

  def test_each_part_counts_in_a_key
    keys = [[], [nil], [nil, nil], ["nil"], [true], ["true"], [false], ["false"], [0], [[]], [[nil]]]

    assert_equal keys.size, keys.map { |key| Fragment.key(key) { flunk } }.uniq.size
  end

  def test_a_fragment_never_changes
    text = +"before"
    fragment = Fragment.new(text)
    text << " and after"

    assert_equal "before", fragment.text
    assert_predicate fragment, :frozen?
    [fragment.text, fragment.deflated, fragment.digest].each { |string| assert_predicate string, :frozen? }
  end

  def test_the_digest_tells_texts_apart
    assert_equal Fragment.new("a").digest, Fragment.secret("a").digest
    refute_equal Fragment.new("a").digest, Fragment.new("b").digest
    assert_equal 16, Fragment.new("").digest.bytesize
  end

  # The length of a secret's deflated form says nothing about its letters.
  def test_a_secret_is_not_compressed
    assert_equal Fragment.secret("x" * 5000).deflated.bytesize,
      Fragment.secret(Random.new(1).bytes(5000)).deflated.bytesize
    assert_includes Fragment.secret("token").deflated, "token"
    assert_operator Fragment.new("x" * 5000).deflated.bytesize, :<, 100
  end

  def test_bytes_for_a_store_outside
    TEXTS.each do |text|
      fragment = Fragment.new(text)
      loaded = Fragment.load(fragment.dump)

      assert_equal text.b, loaded.text.b
      assert_equal fragment.deflated, loaded.deflated
      assert_equal fragment.digest, loaded.digest
    end
    assert_equal Encoding::UTF_8, Fragment.load(Fragment.new("å").dump).text.encoding
  end

  def test_bytes_that_are_no_fragment
    bytes = Fragment.new("text").dump

    assert_nil Fragment.load("")
    assert_nil Fragment.load("x" * 100)
    (0...bytes.bytesize).each { |length| assert_nil Fragment.load(bytes.byteslice(0, length)) }
    assert_nil Fragment.load("#{bytes}x")
    assert_nil Fragment.load("F0" + bytes.byteslice(2..))
  end

  def test_memory
    fragment = Fragment.new("x" * 10_000)

    assert_includes 10_000..11_000, fragment.memory
  end

  def test_what_is_no_text_is_refused
    [nil, 1, :a, Object.new].each { |object| assert_raises(TypeError) { Fragment.new(object) } }
    assert_raises(TypeError) { Fragment._make("a", nil, "") }
    assert_raises(TypeError) { Fragment.allocate }
  end

  private

  def inflate(deflated)
    zlib = Zlib::Inflate.new(-Zlib::MAX_WBITS)
    zlib.inflate("#{deflated}\x03\x00".b).tap { assert_predicate zlib, :finished? }
  ensure
    zlib.close
  end
end
