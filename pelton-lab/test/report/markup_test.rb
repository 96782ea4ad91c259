# frozen_string_literal: true

require "test_helper"
require "pelton/lab/report/markup"

class LabHtmlTest < PeltonTest
  Html = Pelton::Lab::Html

  def test_text_is_escaped_and_markup_is_not
    assert_equal "<p>&lt;b&gt; &amp; <b>bold</b></p>", Html.tag(:p, "<b> & ", Html.tag(:b, "bold"))
  end

  def test_attributes
    assert_equal '<a href="?a&amp;b&quot;" aria-hidden="true">x</a>',
      Html.tag(:a, "x", href: '?a&b"', aria_hidden: true, title: nil, id: false)
  end

  def test_tags_without_content
    assert_equal '<meta charset="utf-8">', Html.tag(:meta, charset: "utf-8")
    assert_equal '<path d="M0 0"/>', Html.tag(:path, d: "M0 0")
    assert_equal "<p></p>", Html.tag(:p)
  end

  def test_lists_are_joined_and_nothing_is_nothing
    assert_equal "<ul><li>1</li><li>2</li></ul>", Html.tag(:ul, [nil, [1, 2].map { |one| Html.tag(:li, one) }])
  end

  def test_concatenation_escapes_text
    assert_equal "<b>x</b>&lt;", Html.tag(:b, "x") + "<"
    assert_instance_of Html::Markup, Html.tag(:b, "x") + "<"
  end
end
