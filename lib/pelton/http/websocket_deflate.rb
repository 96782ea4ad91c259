# frozen_string_literal: true

module Pelton
  module HTTP
    # permessage-deflate by the gem of that name, with bounds: what inflating may produce, and the memory between two
    # messages, of which there is none (300 KB a socket otherwise). Short messages are not compressed.
    # @private
    module WebSocketDeflate
      # Bytes from which a message is compressed.
      THRESHOLD = 512

      # What a session does differently.
      module Bounds
        TAIL = "\x00\x00\xff\xff".b.freeze

        attr_writer :limit

        def process_incoming_message(message)
          return message unless message.rsv1
          inflate = get_inflate
          message.data = inflated(inflate, message.data)
          message
        ensure
          free(inflate) unless @inflate
        end

        def process_outgoing_message(message)
          (message.data.bytesize < THRESHOLD) ? message : super
        end

        private

        # No more than a piece beyond the limit: then the driver closes with 1009, as it does for what was not compressed.
        def inflated(inflate, data)
          all = "".b
          [data, TAIL].each { |part| inflate.inflate(part) { |piece| return all if (all << piece).bytesize > @limit } }
          all << inflate.flush_next_out # zlib keeps what is too little for a piece
        end

        # Without a complaint that there was more to come.
        def free(codec)
          codec&.reset
          codec&.close
        end
      end

      # The extension that a driver is given.
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

        def create_client_session = bound(@extension.create_client_session)

        def create_server_session(offers) = bound(@extension.create_server_session(offers))

        private

        def bound(session) = session&.extend(Bounds)&.tap { |bounded| bounded.limit = @limit }
      end

      class << self
        # Whether the gem is there.
        def available?
          require "permessage_deflate"
          true
        rescue LoadError
          false
        end

        # @param limit [Integer] bytes of a message
        def extension(limit)
          raise LoadError, "to compress WebSocket messages add the gem permessage_deflate to your Gemfile" unless available?
          Extension.new(PermessageDeflate.configure(no_context_takeover: true, request_no_context_takeover: true), limit)
        end
      end
    end
  end
end
