# frozen_string_literal: true

require_relative "helper"

class SiteMarkdownTest < SiteTest
  needs "markdown"

  def test_headings_are_named_as_on_github
    markdown = Site::Markdown.new("# Where do I `change` ...?\n\n## A line-end, twice\n\n## A line-end, twice\n")

    assert_equal [[1, "where-do-i-change-"], [2, "a-line-end-twice"], [2, "a-line-end-twice-1"]], markdown.headings.map { |one| [one.level, one.id] }
    assert_equal "Where do I change ...?", markdown.title
    assert_includes markdown.html, '<a class="anchor" href="#a-line-end-twice"'
  end

  def test_tables_scroll_in_a_box
    html = Site::Markdown.new("| a | b |\n|---|---|\n| 1 | `x | y` |\n").html

    assert_match %r{<div class="table"><table>.*</table></div>}m, html
    assert_includes html, "<code>x | y</code>"
  end

  def test_ruby_is_highlighted
    html = Site::Markdown.new("```ruby\nPelton.run { 1 }\n```\n").html

    assert_includes html, '<span class="no">Pelton</span>'
  end

  def test_an_example_in_an_item
    html = Site::Markdown.new("- **An item**:\n\n  ```ruby\n  a = 1\n  ```\n- another\n").html

    assert_match %r{<li>.*<span class="mi">1</span>.*</li>\s*<li>}m, html
  end

  def test_text_is_left_as_it_was_written
    html = Site::Markdown.new("\"quoted\" -- it's a_b_c, `--quick`\n").html

    assert_equal "\"quoted\" -- it's a_b_c, --quick", Site.text(html)
  end
end
