# frozen_string_literal: true

require "cgi/escape"

module Pelton
  module Lab
    # Writes HTML and SVG. A String is text and is escaped; {Markup} is not.
    module Html
      # HTML, as opposed to text.
      class Markup < String
        # Concatenates two pieces; text is escaped.
        def +(other)
          Markup.new(super(Html.escape(other)))
        end
      end

      VOID = %i[meta br path line circle rect polyline polygon].freeze

      module_function

      # @param content [Array<String, Markup, nil>] one after the other
      # @param attributes [Hash] nil and false leave one out; underscores are hyphens
      # @return [Markup]
      def tag(name, *content, **attributes)
        head = "#{name}#{attributes.map { |key, value| attribute(key, value) }.join}"
        return Markup.new("<#{head}>") if VOID.include?(name) && content.empty? && !SVG.include?(name)
        return Markup.new("<#{head}/>") if VOID.include?(name)
        Markup.new("<#{head}>#{join(content)}</#{name}>")
      end

      SVG = %i[path line circle rect polyline polygon].freeze

      # @return [Markup]
      def join(content)
        Markup.new([content].flatten.map { |piece| escape(piece) }.join)
      end

      def escape(piece)
        piece.is_a?(Markup) ? piece : CGI.escapeHTML(piece.to_s)
      end

      def attribute(key, value)
        return "" if value.nil? || value == false
        " #{key.to_s.tr("_", "-")}=\"#{CGI.escapeHTML(value.to_s)}\""
      end
    end
  end
end
