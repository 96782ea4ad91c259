# frozen_string_literal: true

require_relative "links"
require_relative "markdown"

module Site
  # Docstrings made into HTML, with their references, and the references that guides make by naming what is in the API.
  class ApiText
    # @return [Array<String>] references that name nothing, with where they are made
    attr_reader :dangling

    # @param api [Api]
    def initialize(api)
      @api = api
      @dangling = []
    end

    # @param text [String] of a docstring
    # @param object [YARD::CodeObjects::Base] whose it is
    # @return [String] HTML
    def block(text, object) = Markdown.new(resolve(text, object)).html

    # The same for one sentence or two, inside something else.
    def line(text, object) = block(text.to_s, object).strip.sub(%r{\A<p>(.*)</p>\z}m, '\1')

    # Links what stands in backticks and is in the API: `Pelton.run`, `Stream#gets`.
    def link_names(html, url)
      html.gsub(%r{<(a|h\d|pre)\b.*?</\1>|<code>([^<]*)</code>}m) do |whole|
        name = $2 && $2[/\A(?:Pelton(?:::\w+)*(?:[.#]\w+[?!=]?)?|EM(?:::\w+)*\.\w+[?!]?|[A-Z]\w*(?:::\w+)*#\w+[?!=]?)(?=[\s({]|\z)/]
        there = name && (object = @api.find(name)) && @api.url(object)
        there ? %(<a href="#{Links.relative(url, there)}">#{whole}</a>) : whole
      end
    end

    # @return [String] HTML: a reference from one page of the API to an object
    def link(object, from, text = nil)
      there = @api.url(object)
      text = CGI.escapeHTML(text || object.path)
      there ? %(<a href="#{Links.relative(@api.url(from), there)}"><code>#{text}</code></a>) : "<code>#{text}</code>"
    end

    # @param types [Array<String>, nil] of a tag
    # @return [String] HTML
    def types(types, object)
      Array(types).map { |type|
        type.gsub(/[A-Z]\w*(?:::\w+)*|[^A-Z]+/) do |part|
          found = part.match?(/\A[A-Z]/) && @api.find(part, object)
          there = found && @api.url(found)
          there ? %(<a href="#{Links.relative(@api.url(space(object)), there)}">#{part}</a>) : CGI.escapeHTML(part)
        end
      }.join(", ")
    end

    private

    def space(object) = object.is_a?(YARD::CodeObjects::NamespaceObject) ? object : object.namespace

    # {Name} and {Name what it is called} become links, outside of code.
    def resolve(text, object)
      text.split(/(`[^`]*`|^ {4}.*$)/).map.with_index { |part, i|
        next part if i.odd?
        part.gsub(/\{([A-Z#.][^}\s]*)(?:\s+([^}]*))?\}/) { reference($1, $2, object) }
      }.join
    end

    def reference(name, title, object)
      found = @api.find(name, space(object)) || @api.find(name)
      @dangling << "#{object.path}: {#{name}}" unless found
      text = title || "`#{name.delete_prefix("#")}`"
      there = found && @api.url(found)
      there ? "[#{text}](#{Links.relative(@api.url(space(object)), there)})" : text
    end
  end
end
