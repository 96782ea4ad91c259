# frozen_string_literal: true

require_relative "helper"

class SiteSearchIndexTest < SiteTest
  needs "page", "markdown", "search_index"

  def test_a_section_for_each_heading
    markdown = Site::Markdown.new("# TLS\n\nAny *stream*.\n\n## Clients\n\n`a < b`\n")
    index = Site::SearchIndex.new
    index.add(Site::Page.new(url: "guides/tls.html", title: "TLS", html: markdown.html))
    sections = JSON.parse(index.to_s[/\[.*\]/m])

    assert_equal [["guides/tls.html", "TLS", "", "Any stream."], ["guides/tls.html#clients", "TLS", "Clients", "a < b"]], sections
  end
end
