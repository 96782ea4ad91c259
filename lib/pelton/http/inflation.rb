# frozen_string_literal: true

require "zlib"

module Pelton
  module HTTP
    # Inflates what comes in pieces, and yields it in pieces: a bomb fills no memory, whoever collects counts.
    # @private
    class Inflation
      # @return [Inflation, nil] nil for what is not inflated here
      def self.for(coding)
        case coding&.downcase
        when "gzip", "x-gzip" then new(Zlib::MAX_WBITS + 16)
        when "deflate" then new(nil)
        end
      end

      # @param bits [Integer, nil] of zlib's window; nil: the first byte tells whether there is zlib's head, which some
      #   servers leave out
      def initialize(bits)
        @bits = bits
      end

      # @raise [ProtocolError] this is not what was announced
      def add(piece, &block)
        until piece.empty?
          @zlib ||= Zlib::Inflate.new(@bits || bits_of(piece))
          before = @zlib.total_in
          @zlib.inflate(piece, &block)
          return yield_rest(&block) unless @zlib.finished?
          piece = piece.byteslice(@zlib.total_in - before..)
          @zlib.close
          @zlib = nil # gzip allows several members, one behind the other
        end
      rescue Zlib::Error => error
        raise ProtocolError, "the body cannot be inflated: #{error.message}"
      end

      # @raise [ProtocolError] something is missing
      def finish
        raise ProtocolError, "the inflated body ends before its end" if @zlib
      end

      private

      # What zlib keeps because it is too little for a piece: somebody may wait for it.
      def yield_rest
        rest = @zlib.flush_next_out
        yield rest unless rest.empty?
      end

      def bits_of(piece) = (piece.getbyte(0) & 0x0f == 8) ? Zlib::MAX_WBITS : -Zlib::MAX_WBITS
    end
  end
end
