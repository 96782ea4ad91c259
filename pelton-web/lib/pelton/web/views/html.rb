# frozen_string_literal: true

require "cgi/escape"

module Pelton
  module Web
    # Text that is HTML already: a template inserts it as it is, and escapes everything else.
    #
    # It is frozen, and what is made of it (by interpolation, `<<` to another String, `gsub`) is an ordinary String again, which a template
    # escapes. `+` and {Helpers#safe_join} join it with other text, which they escape.
    class HTML < String
      # @return [String] the text with `& < > " '` escaped, unless it is {HTML}
      def self.escape(value)
        return value.to_s if Integer === value
        text = value.to_s
        (HTML === text) ? text : CGI.escapeHTML(text)
      end

      # Text that can stand in a page, which is UTF-8: bytes are taken for UTF-8, other encodings are converted, and what is no
      # character becomes U+FFFD.
      #
      # @return [String] valid UTF-8; {HTML} stays as it is
      def self.text(value)
        text = value.to_s
        return text if HTML === text || (text.encoding == Encoding::UTF_8 && text.valid_encoding?)
        text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless text.encoding == Encoding::BINARY
        text.dup.force_encoding(Encoding::UTF_8).scrub
      rescue EncodingError # Ruby cannot convert from that encoding
        text.b.force_encoding(Encoding::UTF_8).scrub
      end

      # @param text [String] HTML from a source that may be trusted. Escape every part that comes from outside
      def initialize(text)
        super
        freeze
      end

      def to_s = self

      # @param other [#to_s] is escaped, unless it is {HTML}
      def +(other) = HTML.new(super(HTML.escape(other)))

      # @return [String] a copy that may be changed, and is no {HTML} any more
      def dup = String.new(self)
      alias_method :+@, :dup

      # The name by which template engines ask.
      #
      # @return [Boolean] true
      def html_safe? = true
    end
  end
end
