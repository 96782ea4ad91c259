# frozen_string_literal: true

module Pelton
  module HTTP
    # The part of a content that a request wants by Range (RFC 9110, 14).
    # @private
    module ByteRange
      ONE = /\Abytes=(?:(\d+)-(\d*)|-(\d+))\z/i
      private_constant :ONE

      # @param header [String, nil] Range
      # @param size [Integer] bytes
      # @return [Range, nil, false] the bytes, at least one; nil: all of them, as where several ranges are asked for;
      #   false: the range lies beyond the end
      def self.of(header, size)
        first, last, count = header&.match(ONE)&.captures
        return unless first || count
        return count.to_i.positive? && size.positive? && ([size - count.to_i, 0].max..size - 1) if count
        first = first.to_i
        last = last.empty? ? size - 1 : [last.to_i, size - 1].min
        return false if first >= size
        (first..last) if first <= last
      end
    end
  end
end
