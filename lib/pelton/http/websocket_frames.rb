# frozen_string_literal: true

module Pelton
  module HTTP
    # The frames that come on a WebSocket, looked at before the driver has them: for what RFC 6455 forbids and
    # websocket-driver lets pass, above all once this side has said farewell, when it refuses nothing any more.
    # @private
    class WebSocketFrames
      # Bytes before the frame, and what to close with.
      Fault = Struct.new(:good, :code, :reason)

      CONTINUATION = 0
      CLOSE = 8
      # Codes that were registered after the driver was written, which takes them for errors.
      REGISTERED = 1012..1014
      EMPTY = "".b.freeze
      private_constant :CONTINUATION, :CLOSE, :REGISTERED, :EMPTY

      # @param masked [Boolean] whether frames must have a mask: a client's do, a server's must not
      # @param limit [Integer] bytes of a message
      def initialize(masked:, limit:)
        @masked = masked
        @limit = limit
        @rest = EMPTY # the beginning of a frame that cannot be judged yet
        @left = 0     # bytes to come of one that was
        @message = 0  # bytes of the message so far
      end

      # @param bytes [String] what came next, cut anywhere
      # @return [Fault, nil]
      def look(bytes)
        known = @rest.bytesize
        bytes = @rest + bytes unless known.zero?
        at = @left
        while at + 2 <= bytes.bytesize
          first, second = bytes.getbyte(at), bytes.getbyte(at + 1)
          length, body = length_of(bytes, at + 2, second & 127)
          break unless length
          body += 4 if second > 127
          fault = fault_of(first, second, length)
          if !fault && first & 15 == CLOSE
            break if body + length > bytes.bytesize
            fault = farewell(bytes.byteslice(body, length), (second > 127) ? bytes.byteslice(body - 4, 4) : "\0\0\0\0")
          end
          return Fault.new([at - known, 0].max, *fault) if fault
          at = body + length
        end
        @left = [at - bytes.bytesize, 0].max
        @rest = @left.zero? ? bytes.byteslice(at..) : EMPTY
        nil
      end

      private

      # The payload's length, and what follows it; nil when it is not all there.
      def length_of(bytes, at, short)
        return short, at if short < 126
        width, format = (short == 126) ? [2, "S>"] : [8, "Q>"]
        [bytes.unpack1(format, offset: at), at + width] if at + width <= bytes.bytesize
      end

      def fault_of(first, second, length)
        return [1002, "a #{@masked ? "client's frame has no" : "server's frame has a"} mask"] if (second > 127) != @masked
        return [1002, "a frame's length is malformed"] unless well_formed?(second & 127, length)
        if first & CLOSE != 0
          [1002, "a control frame is too long"] if length > 125
        else
          length += @message if first & 15 == CONTINUATION
          @message = (first > 127) ? 0 : length
          [1009, "the message is too long"] if length > @limit
        end
      end

      # In as few bytes as it takes, and without a sign.
      def well_formed?(short, length)
        case short
        when 126 then length > 125
        when 127 then length > 65_535 && length < (1 << 63)
        else true
        end
      end

      # What the driver would not understand, or send back though it is no text.
      def farewell(payload, mask)
        code, reason = payload.bytes.each_with_index.map { |byte, index| byte ^ mask.getbyte(index & 3) }.pack("C*").unpack("S>a*")
        return unless code
        reason.force_encoding(Encoding::UTF_8)
        return [1007, "the reason is no UTF-8"] unless reason.valid_encoding?
        [code, reason] if REGISTERED.cover?(code)
      end
    end
  end
end
