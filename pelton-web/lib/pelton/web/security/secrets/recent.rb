# frozen_string_literal: true

module Pelton
  module Web
    class Secrets
      # Caches the messages of recently authenticated tokens. Decrypting takes some twenty times as long as a lookup
      # here.
      #
      # The whole token is the key, so a lookup finds only tokens that the same keys authenticated, byte for byte: each
      # {Secrets} has its own cache. The caller must check the expiry each time. A Hash compares tokens only if their
      # hashes are equal, and those depend on a random number of the process, so the time of a lookup reveals nothing
      # about cached tokens.
      #
      # There are two generations, of some 14 MB at most, or 1 MB with small sessions. When the newer one is full, it
      # replaces the older one, whose recently used messages have moved to it.
      #
      # @private
      class Recent
        # Messages per generation.
        LIMIT = 1000
        # Bytes of the longest cached token. Cookies are not longer.
        LONGEST = 4096

        Entry = Struct.new(:purpose, :message)
        private_constant :Entry

        def initialize(limit = LIMIT)
          @limit = limit
          @newer = {}
          @older = {}
        end

        # @yieldreturn [Message, nil] the token's message; nil, which is not cached, if it is not authentic
        def fetch(token, purpose)
          entry = @newer[token] || (@older[token] && add(token, @older[token]))
          return entry.message if entry && entry.purpose == purpose
          message = yield
          add(token, Entry.new(purpose, message)) if message && token.bytesize <= LONGEST
          message
        end

        # @return [Integer] number of messages
        def size = @newer.size + @older.size

        def inspect = "#<#{self.class} #{size}>" # its contents are secret

        private

        def add(token, entry)
          if @newer.size >= @limit
            @older = @newer
            @newer = {}
          end
          @newer[token] = entry
        end
      end
    end
  end
end
