# frozen_string_literal: true

require "json"
require_relative "../html"

module Pelton
  module Web
    module Helpers
      # Elements, and text in them.
      module Tags
        # Elements without content.
        VOID = %w[area base br col embed hr img input link meta source track wbr].to_h { |name| [name, true] }.freeze
        NAME = %r{\A[^"'<>/=\0-\x20]+\z}
        # Attributes that are URLs, and URLs that browsers run as code.
        ADDRESS = /\A(?:href|action|formaction|src|xlink:href)\z/i
        PROGRAM = /\A(?:javascript|vbscript):|\Adata:(?!image\/(?!svg))/i
        GROUPS = [:data, :aria, "data", "aria"].freeze
        private_constant :VOID, :NAME, :ADDRESS, :PROGRAM, :GROUPS

        # Private helpers are methods of the modules, to leave their names in templates to the program.
        def self._escaped(value)
          if value.instance_of?(String) && !(value.encoding == Encoding::UTF_8 && value.valid_encoding?)
            value = HTML.text(value)
          end
          HTML.escape(value)
        end

        # @return [HTML] the text with `& < > " '` escaped, unless it is {HTML} already
        def escape(value) = HTML.new(Tags._escaped(value))
        alias_method :h, :escape

        # Inserts text unescaped. Never use it for user text.
        def raw(text) = HTML.new(text.to_s)

        # @param parts [Array<#to_s>] escaped, except {HTML}
        def safe_join(parts, separator = "")
          HTML.new(parts.flatten.map { |part| Tags._escaped(part) }.join(Tags._escaped(separator)))
        end

        # An element.
        #
        #     tag(:p, "3 < 4", class: ["note", {warning: true}], data: {post_id: 7})
        #     # <p class="note warning" data-post-id="7">3 &lt; 4</p>
        #
        # @param name [Symbol, String]
        # @param content [#to_s, nil] escaped, except {HTML}; by default the block's text
        # @param attributes [Hash] true writes the name alone; nil and false write nothing; `data:` and `aria:` take a
        #   Hash, `class:` a list. A URL (`href`, `src`, `action`) that runs code, such as `javascript:`, becomes "#",
        #   because it may come from a user
        # @raise [ArgumentError] if a name contains invalid characters
        def tag(name, content = nil, **attributes, &block)
          element = name.to_s
          unless element.match?(/\A[a-zA-Z][\w:-]*\z/)
            raise ArgumentError, "#{element.inspect} is no name of an element"
          end
          opening = "<#{element}#{tag_attributes(attributes)}>"
          return HTML.new(opening) if VOID.key?(element)
          HTML.new("#{opening}#{block ? capture(&block) : Tags._escaped(content)}</#{element}>")
        end
        alias_method :content_tag, :tag

        # JSON for a `<script>` element: `<`, `>`, `&`, `'` and JavaScript's line ends become `\u003c` and so on, so
        # that no text can end the element or a quoted attribute.
        #
        #     tag(:script, json_escape(@points), type: "application/json", id: "points")
        #
        # @param value [Object] converted by JSON.generate, unless it is a String of JSON
        # @raise [JSON::ParserError] if a String is not JSON: in a script it could be code
        # @raise [JSON::GeneratorError] if the value contains NaN, or text that is not UTF-8
        def json_escape(value)
          value.is_a?(String) ? JSON.parse(value) : value = JSON.generate(value)
          HTML.new(String.new(value).gsub(/[<>&'\u2028\u2029]/) { |character| format('\u%04x', character.ord) })
        end

        private

        def tag_attributes(attributes)
          text = +""
          attributes.each do |name, value|
            if value.is_a?(Hash) && GROUPS.include?(name)
              value.each { |inner, one| tag_attribute(text, "#{name}-#{inner.to_s.tr("_", "-")}", one) }
            else
              tag_attribute(text, name, (name == :class) ? tag_classes(value) : value)
            end
          end
          text
        end

        def tag_attribute(text, name, value)
          return if value.nil? || value == false
          raise ArgumentError, "#{name.to_s.inspect} is no name of an attribute" unless NAME.match?(name)
          return text << " " << name.to_s if value == true
          value = value.join(" ") if value.is_a?(Array)
          value = "#" if ADDRESS.match?(name) && PROGRAM.match?(HTML.text(value).gsub(/[\0-\x20]/, ""))
          escaped = Tags._escaped(value)
          # It keeps its escapes, but its quotes must be escaped
          escaped = escaped.gsub('"', "&quot;") if HTML === escaped
          text << " " << name.to_s << '="' << escaped << '"'
        end

        def tag_classes(value)
          case value
          when Array then value.filter_map { |one| tag_classes(one) }.join(" ")
          when Hash then value.filter_map { |name, shown| name if shown }.join(" ")
          else value
          end.then { |names| (names == "") ? nil : names }
        end
      end
    end
  end
end
