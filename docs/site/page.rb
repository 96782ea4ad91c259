# frozen_string_literal: true

module Site
  # A page of the site. `source` is the path of its document or nil, `url` its own path in the site.
  Page = Struct.new(:source, :url, :title, :html, :headings, keyword_init: true) do
    def api? = url.start_with?("api/")

    # @return [String] where the page of a document lies: README.md is the home page
    def self.url_of(path)
      return "documents.html" if path == "docs/README.md"
      path.delete_prefix("docs/").sub(/README\.md\z/, "index.md").sub(/\.md\z/, ".html").downcase
    end
  end
end
