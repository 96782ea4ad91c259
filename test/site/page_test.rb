# frozen_string_literal: true

require_relative "helper"

class SitePageTest < SiteTest
  needs "page"

  def test_each_document_has_a_url
    urls = {
      "README.md" => "index.html",
      "CHANGELOG.md" => "changelog.html",
      "docs/README.md" => "documents.html",
      "docs/guides/tls.md" => "guides/tls.html",
      "pelton-lab/README.md" => "pelton-lab/index.html"
    }

    assert_equal urls, urls.to_h { |path, _| [path, Site::Page.url_of(path)] }
  end

  def test_pages_of_the_api
    assert_predicate Site::Page.new(url: "api/Pelton.html"), :api?
    refute_predicate Site::Page.new(url: "guides/api.html"), :api?
  end
end
