# frozen_string_literal: true

require "fileutils"
require_relative "index"
require_relative "page"
require_relative "markdown"
require_relative "links"
require_relative "layout"
require_relative "search_index"
require_relative "api"
require_relative "api_pages"
require_relative "api_text"

module Site
  # Makes the documentation site: the documents of the index, and the API.
  class Builder
    ASSETS = %w[style.css search.js].freeze

    # @return [Api]
    attr_reader :api

    # @return [ApiText]
    attr_reader :text

    # @param root [String] the repository
    def initialize(root)
      @root = root
      @index = Index.new(read(Index::PATH))
      @urls = [Index::PATH, *@index.entries.map(&:path)].grep(/\.md\z/).to_h { |path| [path, Page.url_of(path)] }
      @links = Links.new(root, @urls)
      @api = Api.new(root)
      @text = ApiText.new(@api)
      @api_pages = ApiPages.new(@api, @text)
    end

    # @param folder [String] is made anew
    # @return [Array<Page>]
    def build(folder)
      FileUtils.rm_rf(folder)
      layout = Layout.new(@index, @urls, read("lib/pelton/version.rb")[/"(.+)"/, 1])
      search = SearchIndex.new
      pages = @urls.map { |path, url| document(path, url) } + @api_pages.pages
      pages.each do |page|
        search.add(page)
        write(folder, page.url, layout.render(page, api: page.api? ? @api_pages.navigation(page) : ""))
      end
      write(folder, "search-index.js", search.to_s)
      ASSETS.each { |name| write(folder, name, File.read(File.join(__dir__, name))) }
      @links.pictures.each { |path| write(folder, path, File.binread(File.join(@root, path))) }
      pages
    end

    private

    def document(path, url)
      markdown = Markdown.new(read(path))
      html = @text.link_names(@links.rewrite(markdown.html, path, url), url)
      Page.new(source: path, url: url, title: markdown.title, html: html, headings: markdown.headings)
    end

    def read(path) = File.read(File.join(@root, path), encoding: "UTF-8")

    def write(folder, path, content)
      FileUtils.mkdir_p(File.dirname(path = File.join(folder, path)))
      File.binwrite(path, content)
    end
  end
end
