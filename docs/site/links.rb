# frozen_string_literal: true

require "pathname"

module Site
  # Leads the links of a document, which name files of the repository, to the site's pages, to pictures, or to the
  # repository's source.
  class Links
    REPOSITORY = "https://github.com/pelton-rb/pelton/"
    PICTURE = /\.(?:png|svg|jpe?g|gif|webp)\z/

    class Dead < StandardError
    end

    # @return [Array<String>] pictures that the pages show, each as the site has it: by its path from the root
    attr_reader :pictures

    # @param root [String] the repository
    # @param pages [Hash{String => String}] from the path of a document to the URL of its page
    def initialize(root, pages)
      @root = root
      @pages = pages
      @pictures = []
    end

    # @param html [String]
    # @param source [String] the path of the document
    # @param url [String] its page's
    # @raise [Dead] for a link to what is not there
    def rewrite(html, source, url)
      html.gsub(/<(?:a|img|source)\b[^>]*>/) do |tag|
        tag.gsub(/\b(href|src|srcset)="([^"]+)"/) { %(#{$1}="#{target($2, source, url)}") }
      end
    end

    # The URL of a file in the repository's source.
    def self.source(path, folder: false) = "#{REPOSITORY}#{folder ? "tree" : "blob"}/main/#{path}"

    # From one page to another, so that the site works wherever it lies.
    def self.relative(from, to) = Pathname(to).relative_path_from(Pathname(from).dirname).to_s

    private

    def target(link, source, url)
      return link if link.match?(/\A(?:[a-z]+:|#)/)
      path, anchor = link.split("#", 2)
      path = File.expand_path(path, "/#{File.dirname(source)}").delete_prefix("/")
      found = @pages[path] ? Links.relative(url, @pages[path]) : file(path, source, url)
      anchor ? "#{found}##{anchor}" : found
    end

    def file(path, source, url)
      full = File.join(@root, path)
      raise Dead, "#{source} links to #{path}, which is not there" unless File.exist?(full)
      return Links.source(path, folder: File.directory?(full)) unless path.match?(PICTURE)
      @pictures |= [path]
      Links.relative(url, path)
    end
  end
end
