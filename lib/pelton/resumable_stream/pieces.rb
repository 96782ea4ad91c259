# frozen_string_literal: true

module Pelton
  class ResumableStream
    # Makes valid text of pieces of bytes: a character may be cut between two of them, and what is no UTF-8 becomes
    # U+FFFD, as does NUL, which databases refuse.
    # @private
    class Pieces
      def initialize
        @rest = "".b
      end

      # @return [String] UTF-8, without a character that has only begun
      def take(piece)
        bytes = @rest << piece.b
        cut = bytes.bytesize - unfinished(bytes)
        @rest = bytes.byteslice(cut..)
        Pieces.text(bytes.byteslice(0, cut))
      end

      # @return [String] what has begun and does not come to its end
      def finish = Pieces.text(@rest).tap { @rest = "".b }

      def self.text(bytes) = bytes.force_encoding(Encoding::UTF_8).scrub("\uFFFD").tr("\0", "\uFFFD")

      private

      # @return [Integer] bytes of a character at the end that lacks others
      def unfinished(bytes)
        1.upto([3, bytes.bytesize].min) do |count|
          byte = bytes.getbyte(-count)
          return (length(byte) > count) ? count : 0 unless byte & 0xC0 == 0x80
        end
        0
      end

      # @param byte [Integer] the first one of a character
      def length(byte)
        case byte
        when 0xF0.. then 4
        when 0xE0.. then 3
        when 0xC0.. then 2
        else 1
        end
      end
    end
  end
end
