# frozen_string_literal: true

require_relative "text"

module Pelton
  module HTTP
    # Reads the frames of RFC 6455: received bytes become messages and control frames, one after the other. An invalid
    # frame is refused as soon as its bytes show it.
    # @private
    class WebSocketFrames
      include Opaque

      # The peer broke the protocol.
      class Fault < StandardError
        # @return [Integer] for the close frame that answers it
        attr_reader :code

        def initialize(code, reason)
          @code = code
          super(reason)
        end
      end

      CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
      OPCODES = [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG].freeze
      # Codes of close frames: of RFC 6455 and its registry, of libraries, and of applications.
      CODES = [1000..1003, 1007..1014, 3000..4999].freeze
      # The code of a close frame that has none.
      NO_CODE = 1000
      # Bytes of a length that does not fit the second byte, and how they are read.
      WIDTHS = {126 => [2, "S>"], 127 => [8, "Q>"]}.freeze
      NO_WIDTH = [0, nil].freeze
      private_constant :WIDTHS, :NO_WIDTH

      # @param masked [Boolean] whether frames must have a mask: a client's must, a server's must not
      # @param limit [Integer] bytes of a message, inflated
      # @param deflate [WebSocketDeflate::Session, nil] inflates messages; nil: none may be compressed
      def initialize(masked:, limit:, deflate: nil)
        @masked = masked
        @limit = limit
        @deflate = deflate
        @buffer = "".b
        @at = 0 # the first byte of the buffer that was not used
      end

      # Appends received bytes, cut anywhere.
      #
      # @param bytes [String] binary; it belongs to this object from now on
      def <<(bytes)
        if @at * 2 >= @buffer.bytesize # most is used: so a long message is not moved again and again
          @buffer = (@at == @buffer.bytesize) ? bytes : @buffer.byteslice(@at..) << bytes
          @at = 0
        else
          @buffer << bytes
        end
        self
      end

      # @return [Integer] bytes that are missing of the frame whose length is known; 0: none is
      def missing = @length ? [@length - (@buffer.bytesize - @at), 0].max : 0

      # The next message or control frame.
      #
      # @return [Array(Integer, String), nil] opcode and payload; nil: more bytes are needed
      # @raise [Fault]
      def next
        while @length || read_head
          return check_piece if @buffer.bytesize - @at < @length
          received = take
          return received if received
        end
      end

      # The code and the reason in a close frame.
      #
      # @return [Array(Integer, String)]
      # @raise [Fault]
      def self.close_facts(payload)
        return NO_CODE, "" if payload.empty?
        code, reason = payload.unpack("S>a*")
        unless code && CODES.any? { |range| range.cover?(code) }
          raise Fault.new(1002, "the close frame's code is invalid")
        end
        unless reason.force_encoding(Encoding::UTF_8).valid_encoding?
          raise Fault.new(1007, "the close frame's reason is not UTF-8")
        end
        [code, reason]
      end

      private

      # Reads a frame up to its payload. Returns nil when it is not there yet.
      def read_head
        first, second = @buffer.getbyte(@at), @buffer.getbyte(@at + 1)
        return unless second
        check_start(first, second)
        short = second & 127
        width, format = WIDTHS.fetch(short, NO_WIDTH)
        head = 2 + width
        return if @at + head > @buffer.bytesize
        length = format ? @buffer.unpack1(format, offset: @at + 2) : short
        check_length(first & 15, short, length)
        head += 4 if @masked
        return if @at + head > @buffer.bytesize
        @key = @buffer.byteslice(@at + head - 4, 4) if @masked
        @at += head
        begin_frame(first, length)
      end

      def begin_frame(first, length)
        @first = first
        @checked = 0 # bytes of the payload that were found to be valid text
        if first & CLOSE == 0 && first & 15 != CONTINUATION
          @opcode = first & 15
          @compressed = first & 0x40 != 0
          @text = nil
        end
        @length = length
      end

      def check_start(first, second)
        opcode = first & 15
        if first & 0x30 != 0 || first & 0x40 != 0 && (!@deflate || opcode == CONTINUATION || opcode >= CLOSE)
          fault("a reserved bit is set")
        end
        fault("the opcode #{opcode} is reserved") unless OPCODES.include?(opcode)
        fault("a control frame is fragmented") if opcode >= CLOSE && first < 128
        fault("a continuation continues nothing") if opcode == CONTINUATION && !@message
        fault("a message begins within another") if @message && [TEXT, BINARY].include?(opcode)
        fault("a #{@masked ? "client's frame has no" : "server's frame has a"} mask") if (second > 127) != @masked
      end

      def check_length(opcode, short, length)
        if short == 126 && length < 126 || short == 127 && !(65_536...1 << 63).cover?(length)
          fault("a frame's length is malformed")
        end
        return (fault("a control frame is too long") if length > 125) if opcode >= CLOSE
        too_long if length + (@message ? @message.bytesize : 0) > @limit
      end

      # A frame whose payload is complete. Returns nil unless it completes a message.
      def take
        payload = unmasked(@at, @length)
        @at += @length
        @length = nil
        return [@first & 15, payload] if @first & CLOSE != 0
        final = @first > 127
        return [@opcode, finished(payload)] if final && !@message && !@text
        check_text(payload.byteslice(@checked..)) if text?
        @message = (@message || "".b) << payload
        return unless final
        fault("the text is not UTF-8", 1007) if @text && !@text.complete?
        [@opcode, finished(@message)].tap { @message = nil }
      end

      # A message as the program gets it.
      def finished(data)
        data = inflated(data) if @compressed
        return data if @opcode == BINARY
        fault("the text is not UTF-8", 1007) unless data.force_encoding(Encoding::UTF_8).valid_encoding?
        data
      end

      def inflated(data)
        data = @deflate.inflate(data)
        (data.bytesize > @limit) ? too_long : data
      rescue Zlib::Error => error
        fault("permessage-deflate: #{error.message}", 1010)
      end

      # A part of a text's payload that is not complete.
      def check_piece
        return unless text? && @first & CLOSE == 0
        there = @buffer.bytesize - @at
        check_text(unmasked(@at + @checked, there - @checked, @checked))
        @checked = there
        nil
      end

      # Compressed text is checked when it is inflated.
      def text? = @opcode == TEXT && !@compressed

      def check_text(piece)
        fault("the text is not UTF-8", 1007) unless (@text ||= WebSocketText.new).valid?(piece)
      end

      # Bytes of the buffer without the mask; before: how many bytes of the payload are before them.
      def unmasked(at, length, before = 0)
        bytes = @buffer.byteslice(at, length)
        return bytes unless @masked
        ::WebSocket::Mask.mask(bytes, before.zero? ? @key : (@key * 2).byteslice(before & 3, 4))
      end

      def fault(reason, code = 1002) = raise(Fault.new(code, reason))

      def too_long = fault("the message is too long", 1009)
    end
  end
end
