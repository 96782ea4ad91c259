# frozen_string_literal: true

require "digest/sha2"

module Pelton
  module HTTP
    # Entity tags (RFC 9110, sections 8.8.3 and 13.1.2).
    module EntityTag
      TAG = /(?:W\/)?"[^"]*"/
      # Bytes up to which Ruby's own digest is the faster one. Of more, OpenSSL's is: it uses the processor's
      # instructions.
      SHORT = 256
      KNOWN = 1000 # tags of short texts that are remembered
      private_constant :TAG, :SHORT, :KNOWN

      @known = {}

      class << self
        # @param identity [String] bytes that differ where the responses do
        # @return [String] a weak tag: the responses may differ in their bytes, as a compressed one does from a plain
        #   one
        def weak(identity)
          (identity.bytesize <= SHORT) ? @known[identity] || remember(identity) : "W/#{strong(identity)}"
        end

        # @param identity [String] bytes that differ where the bytes of the responses do
        # @return [String] a strong tag
        def strong(identity) = "\"#{digest(identity).unpack1("H*")}\""

        # Whether the client of a GET or HEAD request has the present response already.
        #
        # @param env [Hash] Rack's
        # @param tag [String] of the present response
        def current?(env, tag)
          header = env["HTTP_IF_NONE_MATCH"]
          return false unless header
          verb = env["REQUEST_METHOD"]
          (verb == "GET" || verb == "HEAD") && match?(header, tag)
        end

        # @param header [String] If-None-Match: tags, or "*" for any
        # @param tag [String]
        # @return [Boolean] by the weak comparison: whether the tags are the same apart from `W/`
        def match?(header, tag)
          return true if header == tag || header.strip == "*"
          opaque = tag.delete_prefix("W/")
          header.scan(TAG) { |one| return true if one.delete_prefix("W/") == opaque }
          false
        end

        # @param bytes [String]
        # @return [String] the first 16 bytes of the SHA-256
        # @private
        def digest(bytes) = ((bytes.bytesize <= SHORT) ? Digest::SHA256 : fast).digest(bytes).byteslice(0, 16)

        private

        # The versions of the same pages are asked for again and again.
        def remember(identity)
          @known.clear if @known.size >= KNOWN
          @known[identity] = "W/#{strong(identity)}".freeze
        end

        def fast
          @fast ||= begin
            require "openssl"
            OpenSSL::Digest::SHA256
          rescue LoadError
            Digest::SHA256
          end
        end
      end
    end
  end
end
