# frozen_string_literal: true

require "zlib"
require_relative "../../pelton"

module Pelton
  public_constant :Memcached

  module Memcached
    # A value cannot be serialized, or stored bytes cannot be turned into a value. `cause` is the serializer's error.
    class ValueError < Error
    end

    # Converts Ruby values to bytes and flags for the server, and back. A client has no converter by default: its values
    # are Strings, which are stored unchanged, and flags are ignored. With one:
    #
    # - a value that was stored with `raw: true`, or by a client without a serializer, comes back as a binary String.
    # - a value that was stored compressed is inflated, whatever the threshold is now.
    #
    # The two bits have the same meaning as in dalli and most other clients; the caller may use the other bits.
    #
    # Compressing and serializing block the loop: for some milliseconds a megabyte.
    class Value
      # A bit of the flags: a serializer made the bytes.
      SERIALIZED = 0x1
      # A bit of the flags: the bytes are compressed in zlib's format. Values in gzip's format are read, too.
      COMPRESSED = 0x2
      # The size in bytes from which `compress: true` compresses values.
      THRESHOLD = 4096
      # The largest size in bytes to which a value may inflate.
      INFLATE_LIMIT = 128 << 20

      OWN = SERIALIZED | COMPRESSED
      private_constant :OWN

      # JSON.load of older versions makes objects of any class that the text names, and JSON.dump writes NaN, which
      # other readers refuse.
      module SafeJSON
        def self.dump(value) = ::JSON.generate(value)
        def self.load(bytes) = ::JSON.parse(bytes.force_encoding(Encoding::UTF_8))
        def self.to_s = "JSON"
      end
      private_constant :SafeJSON

      # @param serializer [#dump, #load, nil] `dump(value)` returns a String, `load(string)` the value. JSON is used
      #   without its additions, so a text can only make hashes, arrays, strings, numbers, booleans and nil. nil: values
      #   are Strings.
      #
      #   **Marshal is dangerous here**: `Marshal.load` executes code that the bytes contain. Anybody who can write to
      #   the server, or to the network between it and this program, can then run code in this program. Take JSON, or a
      #   serializer that signs.
      # @param compress [Boolean, Integer] true, or the size in bytes from which a value is compressed, if that makes it
      #   smaller. Text shrinks to a third or a fifth; the speed of zlib's fastest level is about 100 MB/s.
      # @param inflate_limit [Integer] bytes. A small value can inflate to a thousand times its length.
      # @raise [ArgumentError] the serializer lacks a method, or the threshold is not a number of bytes
      def initialize(serializer: nil, compress: false, inflate_limit: INFLATE_LIMIT)
        if serializer && %i[dump load].any? { |method| !serializer.respond_to?(method) }
          raise ArgumentError, "a serializer needs the methods dump and load, which #{serializer.inspect} lacks"
        end
        @serializer = (defined?(::JSON) && serializer.equal?(::JSON)) ? SafeJSON : serializer
        @threshold = (compress == true) ? THRESHOLD : compress
        if @threshold && !(@threshold.is_a?(Integer) && @threshold >= 0)
          raise ArgumentError, "compress: must be true, false or a number of bytes, not #{compress.inspect}"
        end
        @inflate_limit = Integer(inflate_limit)
        freeze
      end

      # @param raw [Boolean] whether to bypass serializer and compression: the value is a String
      # @return [Array(String, Integer)] the bytes and the flags
      # @raise [ValueError] the value is not a String and there is no serializer, or the serializer fails
      def dump(value, raw: false)
        flags = 0
        unless raw || !@serializer
          value = serialize(value)
          flags = SERIALIZED
        end
        unless value.is_a?(String)
          raise ValueError,
            "a value must be a String, not #{value.class}: give the client a serializer#{", or leave out raw:" if raw}"
        end
        return [value, flags] if raw || !@threshold || value.bytesize < @threshold
        smaller = Zlib::Deflate.deflate(value, Zlib::BEST_SPEED)
        (smaller.bytesize < value.bytesize) ? [smaller, flags | COMPRESSED] : [value, flags]
      end

      # @param bytes [String] may be modified
      # @param flags [Integer]
      # @return the value
      # @raise [ValueError] there is no serializer, it fails, or the bytes cannot be inflated
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

      # Inflates in pieces, so it never needs more memory than the limit.
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
        stream&.reset # otherwise close warns about an unfinished stream
        stream&.close
      end
    end
  end
end
