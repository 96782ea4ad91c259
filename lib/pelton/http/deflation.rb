# frozen_string_literal: true

require "zlib"

module Pelton
  module HTTP
    # Compresses texts, each for itself. zlib's streams are used again: making one costs about as much as compressing 2 KB at level 1.
    # @private
    module Deflation
      # Streams of a level that are kept, 260 KB each: one is enough where the threads of a process compress one after the other.
      KEPT = 2
      ATTEMPTS = 10
      private_constant :KEPT, :ATTEMPTS

      @free = Hash.new { |free, level| free[level] = [] }

      # @param level [Integer] 1 (fast) to 9 (small)
      # @return [String] blocks of deflate (RFC 1951) that end on a byte boundary; binary
      def self.deflate(text, level)
        return "".b if text.empty?
        attempts ||= 0
        zlib = @free[level].pop || Zlib::Deflate.new(level, -Zlib::MAX_WBITS)
        deflated = zlib.deflate(text, Zlib::FULL_FLUSH)
        zlib.reset # also avoids zlib's warning about a stream without an end
        (@free[level].size < KEPT) ? @free[level].push(zlib) : zlib.close
        zlib = nil
        deflated
      rescue Zlib::BufError
        # Ruby's zlib raises this if a signal or another thread interrupts a stream that has just flushed everything.
        raise if (attempts += 1) > ATTEMPTS
        zlib.close
        zlib = nil
        retry
      ensure
        zlib&.reset
        zlib&.close
      end
    end
  end
end
