# frozen_string_literal: true

module Pelton
  module HTTP
    # The body of a request, as `rack.input`. It is received while it is read, so a handler that does not read leaves
    # the bytes with the client.
    class Input
      # @private
      def initialize(exchange)
        @exchange = exchange
        @buffer = nil # received bytes that have not been read
      end

      # Reads like IO#read: the whole rest, or so many bytes, fewer only at the end.
      #
      # @param length [Integer, nil] bytes; nil: the whole rest
      # @param buffer [String, nil] is filled instead of a new String
      # @return [String, nil] nil at the end, if a length was given
      # @raise [ClosedError] the client leaves before the end
      # @raise [TimeoutError] no byte comes for the server's `header_timeout`, or fewer than its `body_rate`
      # @raise [ProtocolError, LimitError] the body is malformed or too long
      # @asynchronous
      def read(length = nil, buffer = nil)
        raise ArgumentError, "negative length #{length} given" if length&.negative?
        result = length ? read_some(length) : read_all
        return result unless buffer
        buffer.replace(result || "")
        result && buffer
      end

      # Reads the bytes that have arrived, at most so many. Waits if there are none.
      #
      # @param length [Integer] bytes
      # @return [String]
      # @raise [EOFError] at the end
      # @raise (see #read)
      # @asynchronous
      def readpartial(length, buffer = nil)
        part = take || raise(EOFError, "end of the request's body")
        part, @buffer = part.byteslice(0, length), part.byteslice(length..) if part.bytesize > length
        buffer ? buffer.replace(part) : part
      end

      # @return [String, nil] the next line with its line end; nil at the end of the body
      # @asynchronous
      def gets
        line = String.new(encoding: Encoding::BINARY)
        while (part = take)
          index = part.index("\n")
          next line << part unless index
          @buffer = part.byteslice((index + 1)..) if index + 1 < part.bytesize
          return line << part.byteslice(0, index + 1)
        end
        line unless line.empty?
      end

      # @yieldparam line [String]
      # @asynchronous
      def each
        return to_enum unless block_given?
        while (line = gets)
          yield line
        end
        self
      end

      # @yieldparam part [String] the bytes as they arrive
      # @asynchronous
      def each_part
        while (part = take)
          yield part
        end
      end

      # Stops reading: the server drops the rest.
      def close
        @buffer = @exchange = nil
      end

      private

      # The next part; nil at the end. All methods receive through it.
      def take
        if @buffer
          part, @buffer = @buffer, nil
          return part unless part.empty?
        end
        @exchange&.__send__(:_read)
      end

      def read_all
        all = String.new(encoding: Encoding::BINARY)
        while (part = take)
          all << part
        end
        all
      end

      def read_some(length)
        return String.new(encoding: Encoding::BINARY) if length.zero?
        all = nil
        while (all ? all.bytesize : 0) < length && (part = take)
          all = all ? all << part : part
        end
        return all if all.nil? || all.bytesize <= length
        @buffer = all.byteslice(length..)
        all.byteslice(0, length)
      end
    end

    # The input of a request without a body.
    class EmptyInput
      def read(length = nil, buffer = nil)
        buffer&.clear
        length&.positive? ? nil : buffer || String.new(encoding: Encoding::BINARY)
      end

      def readpartial(length, buffer = nil) = raise(EOFError, "end of the request's body")

      def gets = nil

      def each = block_given? ? self : to_enum

      def each_part = nil

      def rewind = 0

      def close = nil
    end

    # @private
    EMPTY_INPUT = EmptyInput.new.freeze
  end
end
