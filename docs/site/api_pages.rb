# frozen_string_literal: true

require "erb"
require_relative "api_text"

module Site
  # The pages of the API: one for each class and module, and their list.
  class ApiPages
    TEMPLATE = ERB.new(File.read(File.join(__dir__, "api.erb")), trim_mode: "-")
    INDEX = "api/index.html"

    # @param api [Api]
    # @param text [ApiText]
    def initialize(api, text)
      @api = api
      @text = text
    end

    # @return [Array<Page>]
    def pages = [index, *@api.groups.flat_map(&:objects).map { |object| page(object) }]

    # @return [String] HTML: the API's own part of the navigation
    def navigation(page)
      groups = @api.groups.map do |group|
        entries = group.objects.map do |object|
          here = %( aria-current="page") if @api.url(object) == page.url
          %(<li><a href="#{Links.relative(page.url, @api.url(object))}"#{here}>#{object.path.delete_prefix("Pelton::")}</a></li>)
        end
        open = " open" if group.objects.any? { |object| @api.url(object) == page.url }
        "<details#{open}><summary>#{group.title}</summary><ul>#{entries.join}</ul></details>"
      end
      groups.join
    end

    # ---- for the template

    def groups_of(object)
      methods = @api.methods_of(object)
      methods.sort_by.with_index { |method, i| [of_class?(method) ? 0 : 1, i] }.group_by do |method|
        method.group || (of_class?(method) ? "Class methods" : "Instance methods")
      end
    end

    # As it is called: a line for each overload.
    def calls(method)
      overloads = method.tags(:overload)
      return overloads.map { |overload| call(method, overload.parameters) } if overloads.any?
      [call(method, method.parameters)]
    end

    def name(method)
      return "#{method.namespace.name}.new" if method.name == :initialize
      (method.scope == :class) ? "#{method.namespace.name}.#{method.name}" : method.name.to_s
    end

    def source(object)
      file, line = object.files.first
      file && "#{Links.source(file.delete_prefix("./"))}#L#{line}"
    end

    def inside(object) = @api.groups.flat_map(&:objects).select { |other| other.namespace == object }

    def h(text) = CGI.escapeHTML(text.to_s)

    private

    def of_class?(method) = method.scope == :class || method.name == :initialize

    def page(object)
      html = TEMPLATE.result_with_hash(pages: self, api: @api, text: @text, object: object)
      page = Page.new(url: @api.url(object), title: object.path, html: html)
      page.headings = html.scan(%r{<h([23]) id="([^"]+)">(.*?)(?: <a class="anchor".*?)?</h\1>}m)
        .map { |level, id, inside| Markdown::Heading.new(level.to_i, id, inside) }
      page
    end

    def index
      page = Page.new(url: INDEX, title: "API", html: +"<h1>API</h1>\n", headings: [])
      page.html << "<p>What the gems offer to programs. A call that is marked as asynchronous may park its fiber.</p>\n"
      @api.groups.each do |group|
        id = group.title.downcase
        page.headings << Markdown::Heading.new(2, id, group.title)
        rows = group.objects.map do |object|
          line = @text.line(object.docstring.summary, object).gsub(%r{</?a\b[^>]*>}, "")
          %(<dt><a href="#{Links.relative(INDEX, @api.url(object))}"><code>#{object.path}</code></a></dt><dd>#{line}</dd>\n)
        end
        page.html << %(<h2 id="#{id}">#{group.title}</h2>\n<dl class="objects">\n#{rows.join}</dl>\n)
      end
      page
    end

    def call(method, parameters)
      arguments = parameters.filter_map do |parameter, default|
        next if parameter == "&block"
        next parameter unless default
        parameter.end_with?(":") ? "#{parameter} #{default}" : "#{parameter} = #{default}"
      end
      "#{name(method)}#{"(#{arguments.join(", ")})" if arguments.any?}"
    end
  end
end
