# frozen_string_literal: true

require_relative "helper"

class SiteLayoutTest < SiteTest
  needs "index", "page", "markdown", "layout"

  def setup
    index = Site::Index.new("## Guides\n\n- [One](guides/one.md): first\n- [Two](guides/two.md): second\n\n## Reference\n\n- [Changes & more](../CHANGELOG.md)\n\n" \
      "## Internals\n\n### Decisions\n\n#{(1..10).map { |n| "- [#{n}](adr/#{n}.md)\n" }.join}\n### Short\n\n- [Style](style.md)\n")
    urls = ["docs/README.md", *index.entries.map(&:path)].to_h { |path| [path, Site::Page.url_of(path)] }
    @layout = Site::Layout.new(index, urls, "1.2.3")
  end

  def render(url, text = "# Title\n")
    markdown = Site::Markdown.new(text)
    @layout.render(Site::Page.new(url: url, title: markdown.title, html: markdown.html, headings: markdown.headings))
  end

  def test_the_navigation_has_all_groups_and_marks_the_page
    html = render("guides/two.html")

    assert_equal %w[Guides Reference Internals], html.scan(%r{<h2>([^<]+)</h2>}).flatten
    assert_includes html, '<a href="one.html">One</a>'
    assert_includes html, '<a href="two.html" aria-current="page">Two</a>'
    assert_includes html, '<a href="../changelog.html">Changes &amp; more</a>'
    assert_includes html, '<a href="../api/index.html">API</a>'
    assert_includes html, "<details><summary>Decisions</summary>"
    assert_includes html, "<details open><summary>Short</summary>"
    assert_includes render("adr/1.html"), "<details open><summary>Decisions</summary>"
  end

  def test_the_pages_before_and_behind
    assert_equal [%w[prev one.html], %w[next ../api/index.html]], render("guides/two.html").scan(/rel="(prev|next)" href="([^"]+)"/)
    assert_equal [%w[next two.html]], render("guides/one.html").scan(/rel="(prev|next)" href="([^"]+)"/)
    assert_empty render("documents.html").scan(/rel="(prev|next)"/)
  end

  def test_contents_of_a_page_with_several_headings
    html = render("guides/one.html", "# Title\n\n## A [link](x.html)\n\n### `b`\n")

    assert_equal 2, html.scan('<li class="level-2"><a href="#a-link">A link</a></li><li class="level-3"><a href="#b"><code>b</code></a></li>').size
    refute_includes render("guides/one.html", "# Title\n\n## One\n"), "On this page"
  end

  def test_title_version_and_root
    html = render("guides/one.html", "# A < B\n")

    assert_includes html, "<title>A &lt; B - Pelton</title>"
    assert_includes html, "1.2.3"
    assert_includes html, 'href="../style.css"'
  end
end
