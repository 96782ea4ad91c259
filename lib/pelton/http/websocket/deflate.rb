# frozen_string_literal: true

require "zlib"
require_relative "../deflation"

module Pelton
  module HTTP
    # permessage-deflate (RFC 7692), negotiated by the gem of that name, with two bounds: inflating may not produce more
    # than a message's limit, and a socket keeps no memory between two messages (otherwise 300 KB). Short messages are
    # not compressed.
    # @private
    class WebSocketDeflate
      # The size in bytes from which a message is compressed.
      THRESHOLD = 512
      TAIL = "\x00\x00\xff\xff".b.freeze
      LEAST_BITS = 9 # zlib has no window of 8
      private_constant :TAIL, :LEAST_BITS

      # The extension for a driver, which negotiates by the gem's sessions.
      class Extension
        def initialize(extension, limit)
          @extension = extension
          @limit = limit
        end

        def name = @extension.name

        def type = @extension.type

        def rsv1 = true

        def rsv2 = false

        def rsv3 = false

        def create_client_session = @session = @extension.create_client_session

        def create_server_session(offers) = @session = @extension.create_server_session(offers)

        # @return [WebSocketDeflate, nil] nil: the two sides have not agreed to compress
        def agreed
          own, peer = [:@own_window_bits, :@peer_window_bits].map { |name| @session&.instance_variable_get(name) }
          WebSocketDeflate.new(own, peer, @limit) if own
        end
      end

      class << self
        # Whether the gem permessage_deflate is installed, and is loaded now.
        def available?
          return @available if defined?(@available)
          require "permessage_deflate"
          @available = true
        rescue LoadError
          @available = false
        end

        # @param limit [Integer] bytes of a message
        def extension(limit)
          unless available?
            raise LoadError, "compressing WebSocket messages needs the gem permessage_deflate: add it to your Gemfile"
          end
          Extension.new(PermessageDeflate.configure(no_context_takeover: true, request_no_context_takeover: true),
            limit)
        end
      end

      # @return [Integer] the size of the window for compressing, as a power of two. Sockets of the same size share
      #   compressed messages
      attr_reader :window_bits

      def initialize(own_bits, peer_bits, limit)
        @window_bits = [own_bits, LEAST_BITS].max
        @peer_bits = [peer_bits, LEAST_BITS].max
        @limit = limit
      end

      def deflate(data)
        Deflation.repeat do
          codec = Zlib::Deflate.new(Zlib::DEFAULT_COMPRESSION, -@window_bits)
          codec.deflate(data, Zlib::SYNC_FLUSH)[0...-TAIL.bytesize]
        ensure
          free(codec)
        end
      end

      # Stops at the first piece beyond the limit.
      #
      # @raise [Zlib::Error]
      def inflate(data)
        Deflation.repeat do
          codec = Zlib::Inflate.new(-@peer_bits)
          all = "".b
          [data, TAIL].each { |part| codec.inflate(part) { |piece| return all if (all << piece).bytesize > @limit } }
          all << codec.flush_next_out # zlib keeps bytes until they fill a piece
        ensure
          free(codec)
        end
      end

      private

      # The reset avoids zlib's warning about unread input.
      def free(codec)
        codec&.reset
        codec&.close
      end
    end
  end
end
