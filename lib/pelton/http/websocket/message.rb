# frozen_string_literal: true

require "securerandom"
require_relative "deflate"
require_relative "frames"

module Pelton
  module HTTP
    # A message in the form in which it is sent. Sockets that were agreed upon in the same way share one frame, which is
    # encoded and compressed once.
    # @private
    class WebSocketMessage
      include Opaque

      # Makes a frame. A client's must have a mask.
      #
      # @return [String] binary, frozen
      def self.frame(opcode, data, masked:, compressed: false)
        first = 0x80 | opcode | (compressed ? 0x40 : 0)
        bit = masked ? 0x80 : 0
        length = data.bytesize
        if masked
          key = SecureRandom.bytes(4)
          data = key + ::WebSocket::Mask.mask(data, key)
        end
        if length < 126
          [first, bit | length, data].pack("CCa*")
        elsif length < 65_536
          [first, bit | 126, length, data].pack("CCS>a*")
        else
          [first, bit | 127, length, data].pack("CCQ>a*")
        end.freeze
      end

      # @param message [String] a binary String is sent as binary, any other as text
      # @raise [ArgumentError] the text is invalid in its encoding
      # @raise [TypeError] it is not a String
      def initialize(message)
        raise TypeError, "a message must be a String, not #{message.inspect}" unless message.is_a?(String)
        @opcode = (message.encoding == Encoding::BINARY) ? WebSocketFrames::BINARY : WebSocketFrames::TEXT
        message = message.encode(Encoding::UTF_8) if @opcode == WebSocketFrames::TEXT
        unless message.valid_encoding?
          raise ArgumentError, "the text is not valid #{message.encoding}: send other bytes as a binary String"
        end
        @data = message
      end

      # @param deflate [WebSocketDeflate::Session, nil] compresses; nil: the socket has no compression
      # @param masked [Boolean] whether this side is the client
      # @return [String]
      def frame(deflate, masked:)
        deflate = nil if @data.bytesize < WebSocketDeflate::THRESHOLD
        if masked
          return self.class.frame(@opcode, deflate ? deflate.deflate(@data) : @data, masked: true,
            compressed: !!deflate)
        end
        return @plain ||= self.class.frame(@opcode, @data, masked: false) unless deflate
        (@compressed ||= {})[deflate.window_bits] ||= self.class.frame(@opcode, deflate.deflate(@data), masked: false,
          compressed: true)
      end
    end
  end
end
