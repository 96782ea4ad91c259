# frozen_string_literal: true

require "cgi"
require "json"
require_relative "links"

module Site
  # Looks for links of a finished site that lead nowhere: to pages, anchors, scripts, pictures and the repository's files.
  class Checker
    # @param folder [String] the site
    # @param root [String] the repository
    def initialize(folder, root)
      @folder = folder
      @root = root
      @pages = Dir["**/*.html", base: folder].to_h { |path| [path, File.read(File.join(folder, path), encoding: "UTF-8")] }
      @anchors = @pages.transform_values { |html| html.scan(/\sid="([^"]+)"/).flatten.map { |id| CGI.unescapeHTML(id) } }
    end

    # @return [Array<String>] "page: link"
    def dead = from_pages + from_search

    # @return [Array<String>] pages that no way of links leads to from the home page
    def unreachable
      found, waiting = ["index.html"], ["index.html"]
      until waiting.empty?
        page = waiting.shift
        new = links(@pages.fetch(page)).filter_map { |link| resolve(page, link)&.first } & @pages.keys
        waiting.concat(new - found)
        found |= new
      end
      @pages.keys - found
    end

    private

    def links(html)
      html.scan(/<(?:a|link|script|img|source)\b[^>]*>/).flat_map { |tag| tag.scan(/\b(?:href|src|srcset)="([^"]*)"/).flatten }.uniq
    end

    def from_pages
      @pages.flat_map { |page, html| links(html).reject { |link| leads?(page, CGI.unescapeHTML(link)) }.map { |link| "#{page}: #{link}" } }
    end

    def from_search
      index = File.read(File.join(@folder, "search-index.js"), encoding: "UTF-8")
      urls = JSON.parse(index[/\[.*\]/m]).map(&:first)
      urls.reject { |url| leads?("index.html", url) }.map { |url| "search: #{url}" }
    end

    def leads?(page, link)
      return source?(link.delete_prefix(Links::REPOSITORY)) if link.start_with?(Links::REPOSITORY)
      path, anchor = resolve(page, link)
      return true unless path
      File.file?(File.join(@folder, path)) && (anchor.nil? || @anchors.fetch(path, []).include?(anchor))
    end

    # [path in the site, anchor or nil]; nil for what lies elsewhere.
    def resolve(page, link)
      return if link.match?(/\A[a-z]+:/)
      path, anchor = link.split("#", 2)
      path = path.to_s.empty? ? page : File.expand_path(path, "/#{File.dirname(page)}").delete_prefix("/")
      [path, anchor && CGI.unescape(anchor.gsub("+", "%2B"))]
    end

    def source?(link)
      path = link[%r{\A(?:blob|tree)/main/([^#]+)}, 1]
      path.nil? || File.exist?(File.join(@root, path))
    end
  end
end
