# frozen_string_literal: true

require "zlib"
require_relative "../../pelton"

module Pelton
  module Memcached
    # A value cannot be turned into bytes, or what the server holds cannot be turned into a value. `cause` is the
    # serializer's own error.
    class ValueError < Error
    end

    # What turns Ruby's values into the bytes and the flags that a server keeps, and back. A client has none by default: its
    # values are Strings, which go out and come back as they are, and flags are not looked at. With one:
    #
    # - a value that was stored with `raw: true`, or by a client without serializer, comes back as a binary String.
    # - what was stored compressed is inflated, whatever the threshold is now.
    #
    # The flags' bits mean what they mean to dalli and to most other clients; the other bits are the caller's.
    #
    # Compressing and serializing take the thread's time: for a megabyte some milliseconds, while the loop stands.
    class Value
      # A bit of the flags: the bytes are the serializer's.
      SERIALIZED = 0x1
      # A bit of the flags: the bytes are compressed, in the format of zlib (or gzip, when they are read).
      COMPRESSED = 0x2
      # Bytes from which a value is compressed, where `compress: true` names none.
      THRESHOLD = 4096
      # Bytes to which a value may be inflated.
      INFLATE_LIMIT = 128 << 20

      OWN = SERIALIZED | COMPRESSED
      private_constant :OWN

      # In its older versions JSON.load makes objects of any class that the text names; and JSON.dump lets NaN pass, which no
      # other reader takes.
      module SafeJSON
        def self.dump(value) = ::JSON.generate(value)
        def self.load(bytes) = ::JSON.parse(bytes.force_encoding(Encoding::UTF_8))
        def self.to_s = "JSON"
      end
      private_constant :SafeJSON

      # @param serializer [#dump, #load, nil] `dump(value)` gives a String, `load(string)` the value. JSON is used without
      #   its additions, so that a text makes hashes, arrays, strings, numbers, booleans and nil alone. nil: values are
      #   Strings.
      #
      #   **Marshal is dangerous here**: `Marshal.load` runs what the bytes say. Whoever can write to the server, or
      #   between it and this program, then runs code in this program. Take JSON, or a serializer that signs.
      # @param compress [Boolean, Integer] true, or the number of bytes from which a value is compressed, if that makes it
      #   smaller. Text becomes a third or a fifth; the speed of zlib's fastest level is about 100 MB/s.
      # @param inflate_limit [Integer] bytes. A small value can inflate to a thousand times its length.
      # @raise [ArgumentError] for what is no serializer, or no number of bytes
      def initialize(serializer: nil, compress: false, inflate_limit: INFLATE_LIMIT)
        if serializer && %i[dump load].any? { |method| !serializer.respond_to?(method) }
          raise ArgumentError, "a serializer has the methods dump and load: #{serializer.inspect} has not"
        end
        @serializer = (defined?(::JSON) && serializer.equal?(::JSON)) ? SafeJSON : serializer
        @threshold = (compress == true) ? THRESHOLD : compress
        if @threshold && !(@threshold.is_a?(Integer) && @threshold >= 0)
          raise ArgumentError, "compress: is true, false or a number of bytes, not #{compress.inspect}"
        end
        @inflate_limit = Integer(inflate_limit)
        freeze
      end

      # @param raw [Boolean] keep the serializer and the compression out: the value is a String
      # @return [Array(String, Integer)] the bytes and the flags
      # @raise [ValueError]
      def dump(value, raw: false)
        flags = 0
        unless raw || !@serializer
          value = serialize(value)
          flags = SERIALIZED
        end
        unless value.is_a?(String)
          raise ValueError, "a value is a String, not #{value.class}: give the client a serializer#{", or leave out raw:" if raw}"
        end
        return [value, flags] if raw || !@threshold || value.bytesize < @threshold
        smaller = Zlib::Deflate.deflate(value, Zlib::BEST_SPEED)
        (smaller.bytesize < value.bytesize) ? [smaller, flags | COMPRESSED] : [value, flags]
      end

      # @param bytes [String] it may be changed
      # @param flags [Integer]
      # @return the value
      # @raise [ValueError]
      def load(bytes, flags)
        return bytes if flags & OWN == 0
        bytes = inflate(bytes) if flags & COMPRESSED != 0
        (flags & SERIALIZED == 0) ? bytes : deserialize(bytes)
      end

      private

      def serialize(value)
        @serializer.dump(value)
      rescue Error, ::Timeout::Error
        raise
      rescue => error
        raise ValueError, "#{@serializer} cannot dump this #{value.class}: #{error.message}"
      end

      def deserialize(bytes)
        raise ValueError, "the value was serialized: give the client the serializer that wrote it" unless @serializer
        @serializer.load(bytes)
      rescue Error, ::Timeout::Error
        raise
      rescue => error
        raise ValueError, "#{@serializer} cannot load this value: #{error.message}"
      end

      # In pieces, so that no more than the limit is ever held.
      def inflate(bytes)
        inflated = String.new(encoding: Encoding::BINARY)
        stream = Zlib::Inflate.new(Zlib::MAX_WBITS + 32) # 32: zlib's header or gzip's
        stream.inflate(bytes) do |piece|
          raise ValueError, "the value inflates to more than #{@inflate_limit} bytes" if
            inflated.bytesize + piece.bytesize > @inflate_limit
          inflated << piece
        end
        raise ValueError, "the compressed value is cut short" unless stream.finished?
        inflated
      rescue Zlib::Error => error
        raise ValueError, "the compressed value is damaged: #{error.message}"
      ensure
        stream&.reset # or close warns of an unfinished stream
        stream&.close
      end
    end
  end
end
