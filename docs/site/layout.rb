# frozen_string_literal: true

require "cgi"
require "erb"
require_relative "links"

module Site
  # The frame of every page: navigation, contents, the way to the pages before and behind.
  class Layout
    TEMPLATE = ERB.new(File.read(File.join(__dir__, "template.erb")), trim_mode: "-")
    API = Index::Entry.new("API", "api/index.html", "")

    # @param index [Index]
    # @param urls [Hash{String => String}] from the path of a document to the URL of its page
    # @param version [String]
    def initialize(index, urls, version)
      @groups = index.groups
      @urls = urls.merge(API.path => API.path)
      @version = version
      @order = entries(index.groups)
    end

    # @param page [Page]
    # @param api [String] the HTML of the API's own navigation, for its pages
    # @return [String] the whole page
    def render(page, api: "")
      before, _, behind = [nil, *@order, nil].each_cons(3).find { |_, entry, _| @urls[entry.path] == page.url }
      TEMPLATE.result_with_hash(layout: self, page: page, api: api, before: before, behind: behind, contents: shown(page).size > 1,
        version: @version, groups: @groups, root: "../" * page.url.count("/"), here: group(page))
    end

    # @return [String] the link's target
    def to(page, entry) = Links.relative(page.url, @urls.fetch(entry.path))

    # @return [String] HTML: the list of a page's headings
    def contents(page)
      items = shown(page).map do |heading|
        %(<li class="level-#{heading.level}"><a href="##{heading.id}">#{heading.html.gsub(%r{</?a\b[^>]*>}, "")}</a></li>)
      end
      "<ul>#{items.join}</ul>"
    end

    def h(text) = CGI.escapeHTML(text)

    # The site alone has the API, at the beginning of the reference.
    def listed(group) = (group.title == "Reference") ? [API, *group.entries] : group.entries

    def current?(page, entry) = @urls[entry.path] == page.url || (entry == API && page.api?)

    # Whether the navigation shows the entries of an inner group: of a short one, and of the page's own.
    def open?(page, group) = group.all.size < 10 || group.all.any? { |entry| current?(page, entry) }

    private

    def entries(groups) = groups.flat_map { |group| listed(group) + entries(group.groups) }

    def shown(page) = page.headings.select { |heading| [2, 3].include?(heading.level) }

    def group(page) = @groups.find { |group| entries([group]).any? { |entry| current?(page, entry) } }&.title
  end
end
