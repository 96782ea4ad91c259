# frozen_string_literal: true

module Pelton
  module Web
    class Secrets
      # The messages of tokens that were authentic lately. Decrypting takes some twenty times as long as finding one here.
      #
      # The whole token is the key, so nothing is found but what was authenticated, byte for byte, by the same keys: each {Secrets} has
      # its own. Whether a message has expired is for the caller to say, each time. A Hash compares a token with another one only if their
      # hashes, which depend on a random number of the process, are the same: so the time of a search tells nothing about the tokens in it.
      #
      # There are two generations, which take some 14 MB at most, and 1 MB where sessions are small. When the newer one is full it becomes the
      # older one, which is dropped: what was used meanwhile has gone over.
      #
      # @private
      class Recent
        # Messages of a generation.
        LIMIT = 1000
        # Bytes of a token that is kept. Cookies are not longer.
        LONGEST = 4096

        Entry = Struct.new(:purpose, :message)
        private_constant :Entry

        def initialize(limit = LIMIT)
          @limit = limit
          @newer = {}
          @older = {}
        end

        # @yieldreturn [Message, nil] the token's message; nil, which is not kept: it is not authentic
        def fetch(token, purpose)
          entry = @newer[token] || (@older[token] && add(token, @older[token]))
          return entry.message if entry && entry.purpose == purpose
          message = yield
          add(token, Entry.new(purpose, message)) if message && token.bytesize <= LONGEST
          message
        end

        # @return [Integer] messages
        def size = @newer.size + @older.size

        def inspect = "#<#{self.class} #{size}>" # what it keeps is secret

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
