# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRoutesSegmentsTest < PeltonTest
  def test_a_slash_at_the_end_does_not_count
    {"/" => [""], "/a" => ["", "a"], "/a/" => ["", "a"], "/a//b" => ["", "a", "", "b"],
     "//" => ["", ""]}.each do |path, expected|
      assert_equal expected, of(path), path
    end
  end

  def test_escapes_are_decoded_behind_the_slashes
    assert_equal ["", "a b", "c/d", "%2e", "é"], of("/a%20b/c%2Fd/%252e/%C3%A9")
    assert_equal ["", "é"], of("/é".b)
  end

  def test_it_is_utf_8
    assert_equal [Encoding::UTF_8], (of("/a/b".b) + of("/a%20b/c".b)).map(&:encoding).uniq
  end

  def test_what_is_no_text_is_refused
    ["a", "*", "", "/%", "/%2", "/%zz", "/%ff", "/\xff", "/%00", "/a\0", "/%0a", "/%7f", "/%c0%af"].each do |path|
      assert_raises(Pelton::Web::BadRequest, path.inspect) { of(path) }
    end
  end

  private

  def of(path) = Pelton::Web::Routes::Segments.of(path)
end
