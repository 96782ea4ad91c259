# frozen_string_literal: true

require_relative "../deflation"

module Pelton
  module HTTP
    class Compression
      # The codings that this process has: gzip, and those whose gem is installed. A coder compresses a text as a
      # whole, or makes a stream, whose `part` returns bytes that the client can decode at once.
      # @private
      module Coders
        # gzip (RFC 1952).
        class Gzip
          def initialize(level)
            @level = level
          end

          def name = "gzip"

          def whole(text) = Deflation.gzip(text, @level)

          def stream = GzipStream.new(Zlib::Deflate.new(@level, Deflation::GZIP))
        end

        # A member of gzip that is not complete yet.
        class GzipStream
          def initialize(zlib)
            @zlib = zlib
          end

          # zlib has nothing to flush for an empty text, and raises.
          def part(text) = text.empty? ? text : Deflation.repeat { @zlib.deflate(text, Zlib::SYNC_FLUSH) }

          def finish = @zlib.finish

          # A stream that was not finished is reset first, or zlib warns.
          def close
            @zlib.reset unless @zlib.finished?
            @zlib.close
          end
        end

        # Brotli (RFC 7932), by the gem brotli.
        class Brotli
          QUALITY = 4 # about the time of gzip's level 4, and 4 % fewer bytes

          def name = "br"

          def whole(text) = ::Brotli.deflate(text, quality: QUALITY)

          def stream = BrotliStream.new(::Brotli::Compressor.new(quality: QUALITY))
        end

        # A text in Brotli that is not complete yet.
        class BrotliStream
          def initialize(compressor)
            @compressor = compressor
          end

          def part(text) = @compressor.process(text) << @compressor.flush

          def finish = @compressor.finish

          def close = nil
        end

        # Zstandard (RFC 8878), by the gem zstd-ruby.
        class Zstandard
          LEVEL = 3

          def name = "zstd"

          def whole(text) = Zstd.compress(text, level: LEVEL)

          def stream = ZstandardStream.new(Zstd::StreamingCompress.new(level: LEVEL))
        end

        # A frame of Zstandard that is not complete yet.
        class ZstandardStream
          def initialize(compressor)
            @compressor = compressor
          end

          def part(text) = @compressor.compress(text) << @compressor.flush

          def finish = @compressor.finish

          def close = nil
        end
        private_constant :Gzip, :GzipStream, :Brotli, :BrotliStream, :Zstandard, :ZstandardStream

        class << self
          # @param level [Integer] of gzip
          # @return [Array] the coders, the best first
          def present(level)
            coders = [Gzip.new(level)]
            coders.unshift(Brotli.new) if installed?("brotli")
            coders.unshift(Zstandard.new) if installed?("zstd-ruby")
            coders
          end

          private

          def installed?(library)
            require library
            true
          rescue LoadError
            false
          end
        end
      end
      private_constant :Coders
    end
  end
end
