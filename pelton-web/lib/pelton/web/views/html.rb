# frozen_string_literal: true

require "cgi/escape"

module Pelton
  module Web
    # A String of HTML, which templates insert unescaped, unlike all other text.
    #
    # It is frozen. Interpolation, `<<` to another String and `gsub` give a plain String, which templates escape. `+`
    # and {Helpers#safe_join} escape the other text.
    class HTML < String
      # @return [String] the text with `& < > " '` escaped, unless it is {HTML}
      def self.escape(value)
        return value.to_s if Integer === value
        text = value.to_s
        (HTML === text) ? text : CGI.escapeHTML(text)
      end

      # Makes text valid UTF-8 for a page: bytes are taken for UTF-8, other encodings converted, and invalid characters
      # become U+FFFD.
      #
      # @return [String] valid UTF-8; {HTML} is unchanged
      def self.text(value)
        text = value.to_s
        return text if HTML === text || (text.encoding == Encoding::UTF_8 && text.valid_encoding?)
        text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless text.encoding == Encoding::BINARY
        text.dup.force_encoding(Encoding::UTF_8).scrub
      rescue EncodingError # Ruby cannot convert from that encoding
        text.b.force_encoding(Encoding::UTF_8).scrub
      end

      # @param text [String] HTML from a trusted source. Escape every part that comes from outside
      def initialize(text)
        super
        freeze
      end

      def to_s = self

      # @param other [#to_s] escaped, unless it is {HTML}
      def +(other) = HTML.new(super(HTML.escape(other)))

      # @return [String] a plain, unfrozen copy
      def dup = String.new(self)
      alias_method :+@, :dup

      # Called by template engines.
      #
      # @return [Boolean] true
      def html_safe? = true
    end
  end
end
