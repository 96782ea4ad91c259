# frozen_string_literal: true

require "cgi"
require "kramdown"
require "kramdown-parser-gfm"
require "rouge"

module Site
  # A document in Markdown, as GitHub understands it, made into HTML.
  class Markdown
    Heading = Struct.new(:level, :id, :html) do
      def text = Site.text(html)
    end

    OPTIONS = {
      input: "GFM", auto_ids: false, hard_wrap: false, smart_quotes: %w[apos apos quot quot],
      typographic_symbols: {hellip: "...", mdash: "---", ndash: "--", laquo: "<<", raquo: ">>", laquo_space: "<< ", raquo_space: " >>"},
      syntax_highlighter: :rouge, syntax_highlighter_opts: {span: {disable: true}}
    }.freeze

    # @return [String]
    attr_reader :html

    # @return [Array<Heading>]
    attr_reader :headings

    # @param source [String]
    def initialize(source)
      @headings = []
      document = Kramdown::Document.new(source, OPTIONS)
      name_headings(document.root)
      @html = dress(document.to_html)
    end

    # @return [String, nil] the text of the first heading
    def title = @headings.first&.text

    private

    # Names headings as GitHub does, so that links to them work on both.
    def name_headings(element, taken = Hash.new(0))
      if element.type == :header
        id = element.options[:raw_text].downcase.gsub(/[^\w\- ]/, "").tr(" ", "-")
        number = (taken[id] += 1) - 1
        element.attr["id"] = number.zero? ? id : "#{id}-#{number}"
      end
      element.children.each { |child| name_headings(child, taken) }
    end

    # Wide tables scroll in a box of their own, and each heading below the title links to itself.
    def dress(html)
      html = html.gsub("<table>", '<div class="table"><table>').gsub("</table>", "</table></div>")
      html.gsub(%r{<h(\d) id="([^"]+)">(.*?)</h\1>}m) do
        level, id, inside = $1.to_i, $2, $3
        @headings << Heading.new(level, id, inside)
        anchor = %( <a class="anchor" href="##{id}" aria-label="Link to this section">#</a>) if level > 1
        %(<h#{level} id="#{id}">#{inside}#{anchor}</h#{level}>)
      end
    end
  end

  # @return [String] the text of HTML
  def self.text(html) = CGI.unescapeHTML(html.gsub(/<[^>]*>/, "")).gsub(/\s+/, " ").strip
end
