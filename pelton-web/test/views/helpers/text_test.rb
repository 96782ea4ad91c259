# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/views/view"

class WebTextTest < PeltonTest
  def view = Pelton::Web::View.new

  def test_paragraphs
    assert_equal "<p>a\n<br>&lt;b</p>\n<p>c</p>", view.simple_format("a\r\n<b\n\n\nc\n")
    assert_equal ["", ""], [view.simple_format(nil), view.simple_format(" \n")]
    assert_equal "<p>\uFFFD</p>", view.simple_format("\xff")
  end

  def test_shorter
    assert_equal ["abcd…", "abcde", "ab--"], [view.truncate("abcdef", length: 5), view.truncate("abcde", length: 5), view.truncate("abcdef", length: 4, omission: "--")]
    assert_equal ["one…", "onetw…", "…"], [view.truncate("one two three", length: 7, separator: " "), view.truncate("onetwothree", length: 6, separator: " "), view.truncate("abc", length: 0)]
    refute_kind_of Pelton::Web::HTML, view.truncate(view.raw("<b>"))
    assert_equal ["", "7"], [view.truncate(nil), view.truncate(7)]
  end

  def test_how_many
    assert_equal ["1 reply", "2 replies", "0 boxes", "2 people", "1.5 days"], [view.pluralize(1, "reply"), view.pluralize(2, "reply"), view.pluralize(nil, "box"), view.pluralize(2, "person", "people"), view.pluralize(1.5, "day")]
  end
end
