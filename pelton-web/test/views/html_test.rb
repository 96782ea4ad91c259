# frozen_string_literal: true

require "test_helper"
require "pelton/web/views/html"

class WebHTMLTest < PeltonTest
  HTML = Pelton::Web::HTML

  def test_text_is_escaped_and_html_is_not
    assert_equal "&lt;b class=&quot;x&quot;&gt;&#39;&amp;", HTML.escape(%q(<b class="x">'&))
    assert_equal "<b>", HTML.escape(HTML.new("<b>"))
    assert_equal ["", "7", "a"], [nil, 7, :a].map { |value| HTML.escape(value) }
  end

  def test_what_is_made_of_it_is_ordinary_text
    html = HTML.new("<b>")

    made = [html.dup, +html, html.tr("b", "i"), "#{html}x", html * 2, html.upcase, html[0, 2], html.strip,
      html.sub("b") { "<" }, +"" << html]

    assert_empty(made.select { |one| HTML === one })
  end

  def test_it_cannot_be_changed
    assert_raises(FrozenError) { HTML.new("<b>") << "<script>" }
    assert_predicate HTML.new("<b>"), :frozen?
  end

  def test_plus_escapes_the_other
    sum = HTML.new("<b>") + "<i>" + HTML.new("<u>")

    assert_equal "<b>&lt;i&gt;<u>", sum
    assert_kind_of HTML, sum
  end

  def test_bytes_that_are_no_text_stay_inside
    assert_equal "\xff&lt;".b, HTML.escape("\xff<").b
  end

  def test_text_for_a_page_is_utf_8
    {"é" => "é", "\xff<" => "\uFFFD<", "é\xff".b => "é\uFFFD", "é".encode("UTF-16LE") => "é",
     "é".encode("ISO-8859-1") => "é", "é".encode("UTF-16LE").byteslice(0, 1) => "\uFFFD",
     "a".encode("US-ASCII") => "a", (+"+AOk-").force_encoding("UTF-7") => "+AOk-", nil => "",
     7 => "7"}.each do |value, expected|
      text = HTML.text(value)

      assert_equal expected, text, value.inspect
      assert_equal true, text.valid_encoding?, value.inspect
    end
    html = HTML.new("<b>")

    assert_same html, HTML.text(html)
  end
end
