# frozen_string_literal: true

require_relative "../html"

module Pelton
  module Web
    module Helpers
      # Elements and text.
      module Tags
        # Elements without content.
        VOID = %w[area base br col embed hr img input link meta source track wbr].to_h { |name| [name, true] }.freeze
        NAME = %r{\A[^"'<>/=\0-\x20]+\z}
        private_constant :VOID, :NAME

        # @return [HTML] the text with `& < > " '` escaped, unless it is {HTML} already
        def escape(value) = HTML.new(HTML.escape(value))
        alias_method :h, :escape

        # Inserts text as it is. Never use it for what a user has written.
        #
        # @return [HTML]
        def raw(text) = HTML.new(text.to_s)

        # @param parts [Array<#to_s>] what is no {HTML} is escaped
        # @return [HTML]
        def safe_join(parts, separator = "") = HTML.new(parts.flatten.map { |part| HTML.escape(part) }.join(HTML.escape(separator)))

        # An element.
        #
        #     tag(:p, "3 < 4", class: ["note", {warning: true}], data: {post_id: 7})
        #     # <p class="note warning" data-post-id="7">3 &lt; 4</p>
        #
        # @param name [Symbol, String]
        # @param content [#to_s, nil] is escaped, unless it is {HTML}; the block's text may be given instead
        # @param attributes [Hash] true: the name alone; nil, false: left out; `data:` and `aria:` take a Hash, `class:` a list
        # @return [HTML]
        # @raise [ArgumentError] a name with characters that no name has
        def tag(name, content = nil, **attributes, &block)
          element = name.to_s
          raise ArgumentError, "#{element.inspect} is no name of an element" unless element.match?(/\A[a-zA-Z][\w:-]*\z/)
          opening = "<#{element}#{tag_attributes(attributes)}>"
          return HTML.new(opening) if VOID.key?(element)
          HTML.new("#{opening}#{block ? capture(&block) : HTML.escape(content)}</#{element}>")
        end
        alias_method :content_tag, :tag

        # The paragraphs of a text: an empty line divides them, other line ends become `<br>`. The text is escaped.
        #
        # @return [HTML]
        def simple_format(text)
          paragraphs = text.to_s.gsub(/\r\n?/, "\n").strip.split(/\n{2,}/)
          safe_join(paragraphs.map { |paragraph| tag(:p, safe_join(paragraph.split("\n"), HTML.new("\n<br>"))) }, "\n")
        end

        # @param length [Integer] characters at most, with the omission
        # @return [String] which is escaped where it is inserted
        def truncate(text, length: 30, omission: "…")
          text = text.to_s
          (text.length > length) ? "#{text[0, [length - omission.length, 0].max]}#{omission}" : String.new(text)
        end

        private

        def tag_attributes(attributes)
          text = +""
          attributes.each do |name, value|
            if value.is_a?(Hash) && name != :class
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
          # In quotes HTML is text as well: what it escaped stays, but its quotes do not.
          text << " " << name.to_s << '="' << HTML.escape(value).gsub('"', "&quot;") << '"'
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
