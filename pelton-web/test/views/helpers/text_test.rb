# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/views/view"

class WebTextTest < PeltonTest
  def view = Pelton::Web::View.new

  def test_paragraphs
    assert_equal "<p>a\n<br>&lt;b</p>\n<p>c</p>", view.simple_format("a\r\n<b\n\n\nc\n")
    assert_equal "", view.simple_format(nil)
    assert_equal "", view.simple_format(" \n")
    assert_equal "<p>\uFFFD</p>", view.simple_format("\xff")
  end

  def test_shorter
    assert_equal "abcd…", view.truncate("abcdef", length: 5)
    assert_equal "abcde", view.truncate("abcde", length: 5)
    assert_equal "ab--", view.truncate("abcdef", length: 4, omission: "--")
    assert_equal "one…", view.truncate("one two three", length: 7, separator: " ")
    assert_equal "onetw…", view.truncate("onetwothree", length: 6, separator: " ")
    assert_equal "…", view.truncate("abc", length: 0)
    refute_kind_of Pelton::Web::HTML, view.truncate(view.raw("<b>"))
    assert_equal "", view.truncate(nil)
    assert_equal "7", view.truncate(7)
  end

  def test_how_many
    assert_equal "1 reply", view.pluralize(1, "reply")
    assert_equal "2 replies", view.pluralize(2, "reply")
    assert_equal "0 boxes", view.pluralize(nil, "box")
    assert_equal "2 people", view.pluralize(2, "person", "people")
    assert_equal "1.5 days", view.pluralize(1.5, "day")
  end
end
