# frozen_string_literal: true

module Pelton
  module HTTP
    # Finds invalid UTF-8 in text that comes in pieces, by the first byte that cannot belong to a character.
    # @private
    class WebSocketText
      # The beginning of a character (RFC 3629, section 4).
      BEGUN = /\A(?:[\xC2-\xDF]|\xE0[\xA0-\xBF]?|[\xE1-\xEC\xEE\xEF][\x80-\xBF]?|\xED[\x80-\x9F]?|
        \xF0(?:[\x90-\xBF][\x80-\xBF]?)?|[\xF1-\xF3][\x80-\xBF]{0,2}|\xF4(?:[\x80-\x8F][\x80-\xBF]?)?)\z/nx
      EMPTY = "".b.freeze
      private_constant :BEGUN, :EMPTY

      def initialize
        @begun = EMPTY # the bytes of a character that is not complete
      end

      # @param piece [String] the next bytes, binary, cut anywhere
      # @return [Boolean] whether they are valid so far
      def valid?(piece)
        bytes = (@begun + piece).force_encoding(Encoding::UTF_8)
        @begun = EMPTY
        return true if bytes.valid_encoding?
        (1..[3, bytes.bytesize].min).any? do |length|
          last = bytes.byteslice(-length, length).b
          next unless BEGUN.match?(last) && bytes.byteslice(0, bytes.bytesize - length).valid_encoding?
          @begun = last
        end
      end

      # Whether the text may end here: not within a character.
      def complete? = @begun.empty?
    end
  end
end
