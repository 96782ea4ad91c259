# frozen_string_literal: true

require_relative "helper"

class SiteLinksTest < SiteTest
  needs "links"

  PAGES = {"README.md" => "index.html", "docs/guides/tls.md" => "guides/tls.html"}.freeze
  SOURCE = Site::Links::REPOSITORY

  def links
    repository("docs/chart.svg" => "<svg/>", "lib/a.rb" => "", "README.md" => "", "docs/guides/tls.md" => "") { |root| yield Site::Links.new(root, PAGES) }
  end

  def rewritten(html) = links { |links| return links.rewrite(html, "docs/guides/tls.md", "guides/tls.html") }

  def test_documents_become_pages
    assert_equal '<a href="../index.html">', rewritten('<a href="../../README.md">')
    assert_equal '<a class="x" href="../index.html#try-it">', rewritten('<a class="x" href="../../README.md#try-it">')
  end

  def test_files_become_the_repository_s_source
    assert_equal %(<a href="#{SOURCE}blob/main/lib/a.rb#L3">), rewritten('<a href="../../lib/a.rb#L3">')
    assert_equal %(<a href="#{SOURCE}tree/main/lib">), rewritten('<a href="../../lib/">')
  end

  def test_pictures_are_taken_along
    links do |links|
      assert_equal '<img src="docs/chart.svg">', links.rewrite('<img src="docs/chart.svg">', "README.md", "index.html")
      assert_equal '<source srcset="../docs/chart.svg">', links.rewrite('<source srcset="../chart.svg">', "docs/guides/tls.md", "guides/tls.html")
      assert_equal ["docs/chart.svg"], links.pictures
    end
  end

  def test_other_links_and_text_stay
    ['<a href="https://example.com/x">', '<a href="mailto:a@example.com">', '<a href="#here">', '<code>&lt;a href="x.md"&gt;</code>'].each do |html|
      assert_equal html, rewritten(html)
    end
  end

  def test_a_dead_link_is_an_error
    error = assert_raises(Site::Links::Dead) { rewritten('<a href="gone.md">') }

    assert_match "docs/guides/tls.md links to docs/guides/gone.md", error.message
  end
end
