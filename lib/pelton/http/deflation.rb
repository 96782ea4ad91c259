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
      private_constant :KEPT, :ATTEMPTS

      @free = Hash.new { |free, level| free[level] = [] }

      # @param level [Integer] 1 (fast) to 9 (small)
      # @return [String] blocks of deflate (RFC 1951) that end on a byte boundary; binary
      def self.deflate(text, level)
        return "".b if text.empty?
        repeat do
          zlib = @free[level].pop || Zlib::Deflate.new(level, -Zlib::MAX_WBITS)
          deflated = zlib.deflate(text, Zlib::FULL_FLUSH)
          zlib.reset # also avoids zlib's warning about a stream without an end
          (@free[level].size < KEPT) ? @free[level].push(zlib) : zlib.close
          zlib = nil
          deflated
        ensure
          zlib&.reset
          zlib&.close
        end
      end

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
