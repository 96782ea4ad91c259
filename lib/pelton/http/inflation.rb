# frozen_string_literal: true

require "zlib"

module Pelton
  module HTTP
    # Inflates a body piece by piece, and yields it in pieces. So a small body that inflates to gigabytes fills no
    # memory, and a reader that collects the pieces can stop at a limit.
    # @private
    class Inflation
      include Opaque

      # @yieldparam error [ProtocolError] the block may return another one to raise
      # @return [Inflation, nil] nil for other codings
      def self.for(coding, &name)
        case coding&.downcase
        when "gzip", "x-gzip" then new(Zlib::MAX_WBITS + 16, &name)
        when "deflate" then new(nil, &name)
        end
      end

      # @param bits [Integer, nil] zlib's window bits; nil: for "deflate", where some servers leave out zlib's header,
      #   which the first byte shows
      def initialize(bits, &name)
        @bits = bits
        @name = name || :itself.to_proc
      end

      # @raise [ProtocolError] the bytes are not in the announced format
      def add(piece, &block)
        until piece.empty?
          @zlib ||= Zlib::Inflate.new(@bits || bits_of(piece))
          taken = inflate(piece, &block)
          return yield_rest(&block) unless @zlib.finished?
          piece = piece.byteslice(taken..)
          @zlib.close
          @zlib = nil # a gzip body may have several members
        end
      rescue Zlib::Error => error
        fail("the body cannot be inflated: #{error.message}")
      end

      # @raise [ProtocolError] the body is incomplete
      def finish
        fail("the compressed body is cut short") if @zlib
      end

      private

      def fail(message) = raise(@name.call(ProtocolError.new(message)))

      # Ruby's zlib also raises BufError where a signal interrupts a stream that has taken the whole piece; nothing is
      # lost then.
      #
      # @return [Integer] how many bytes it has taken
      def inflate(piece, &block)
        before = @zlib.total_in
        @zlib.inflate(piece, &block)
        @zlib.total_in - before
      rescue Zlib::BufError
        taken = @zlib.total_in - before
        (taken == piece.bytesize) ? taken : raise
      end

      # Yields the bytes that zlib keeps until they fill a piece: a reader may be waiting for them.
      def yield_rest
        rest = @zlib.flush_next_out
        yield rest unless rest.empty?
      end

      def bits_of(piece) = (piece.getbyte(0) & 0x0f == 8) ? Zlib::MAX_WBITS : -Zlib::MAX_WBITS
    end
  end
end
