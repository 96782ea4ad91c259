# frozen_string_literal: true

require "zlib"

module Pelton
  module HTTP
    # Compresses texts, each for itself. zlib's streams are used again: making one costs about as much as compressing 2
    # KB at level 1.
    # @private
    module Deflation
      # Streams of a level that are kept, 260 KB each: one is enough where the threads of a process compress one after
      # the other.
      KEPT = 2
      ATTEMPTS = 10
      # zlib's windowBits for a member of gzip (RFC 1952).
      GZIP = Zlib::MAX_WBITS + 16
      private_constant :KEPT, :ATTEMPTS

      @free = Hash.new { |free, kind| free[kind] = [] }

      # @param level [Integer] 1 (fast) to 9 (small)
      # @return [String] blocks of deflate (RFC 1951) that end on a byte boundary; binary
      def self.deflate(text, level)
        text.empty? ? "".b : compress(text, level, -Zlib::MAX_WBITS, Zlib::FULL_FLUSH)
      end

      # @param level [Integer] 1 (fast) to 9 (small)
      # @return [String] a member of gzip (RFC 1952); binary
      def self.gzip(text, level) = compress(text, level, GZIP, Zlib::FINISH)

      def self.compress(text, level, bits, flush)
        kept = @free[[level, bits]]
        repeat do
          zlib = kept.pop || Zlib::Deflate.new(level, bits)
          deflated = zlib.deflate(text, flush)
          zlib.reset # also avoids zlib's warning about a stream without an end
          (kept.size < KEPT) ? kept.push(zlib) : zlib.close
          zlib = nil
          deflated
        ensure
          zlib&.reset
          zlib&.close
        end
      end
      private_class_method :compress

      # Runs the block, which compresses a text from its beginning, once more where Ruby's zlib raises an error because
      # a signal or another thread has interrupted a stream that had just flushed everything.
      def self.repeat
        attempts ||= 0
        yield
      rescue Zlib::BufError
        ((attempts += 1) > ATTEMPTS) ? raise : retry
      end
    end
  end
end
