# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "pelton/web/view"

class WebTagsTest < PeltonTest
  def view = Pelton::Web::View.new

  def test_elements
    assert_equal '<p class="note warning" data-post-id="7" hidden>3 &lt; 4</p>', view.tag(:p, "3 < 4", class: ["note", {warning: true, no: false}], data: {post_id: 7}, hidden: true, title: nil)
    assert_equal "<br>", view.tag(:br)
    assert_equal "<p>&lt;</p>", view.tag(:p) { "<" }
  end

  def test_no_attribute_can_be_left_by_its_value
    quoting = view.tag(:p, title: '" onclick="x', class: Pelton::Web::HTML.new('a" b="'))

    assert_equal '<p class="a&quot; b=&quot;" title="&quot; onclick=&quot;x"></p>', quoting.sub(/<p (title="[^"]*") (class="[^"]*")>/, '<p \2 \1>')
  end

  def test_names_that_are_no_names_are_refused
    ["onclick=x", "a b", "a>", "", "a\0", "a/b"].each { |name| assert_raises(ArgumentError, name) { view.tag(:p, "", "#{name}": "x") } }
    ["p onclick", "p>", "", "1p"].each { |name| assert_raises(ArgumentError, name) { view.tag(name) } }
    assert_raises(ArgumentError) { view.tag(:p, data: {"x onclick": 1}) }
  end

  def test_raw_escape_and_safe_join
    assert_equal "<b>", view.raw("<b>")
    assert_equal "&lt;", view.h("<")
    assert_equal "<b>, &lt;, 7", view.safe_join([view.raw("<b>"), ["<", 7]], ", ")
  end

  def test_text
    assert_equal "<p>a\n<br>&lt;b</p>\n<p>c</p>", view.simple_format("a\r\n<b\n\n\nc\n")
    assert_equal ["abcd…", "abcde", "ab--"], [view.truncate("abcdef", length: 5), view.truncate("abcde", length: 5), view.truncate("abcdef", length: 4, omission: "--")]
    refute_kind_of Pelton::Web::HTML, view.truncate(view.raw("<b>"))
  end
end
