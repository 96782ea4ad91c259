# frozen_string_literal: true

require "json"
require "openssl"

module Pelton
  module Cable
    # Names of streams that a client may subscribe to because the server has signed them, without a channel of the
    # application: a page that may show a room has the signed name of the room's stream. The form is Turbo's, an
    # ActiveSupport::MessageVerifier with SHA-256 and JSON: the name's JSON in Base64, "--", and the HMAC of that in
    # hexadecimal. A signature does not expire, and anybody who has it may use it.
    class SignedStreams
      # Bytes of a signed name, which a client sends.
      LONGEST = 4096
      private_constant :LONGEST

      # @param key [String] at least 32 bytes. For Turbo's names of a Rails application:
      #   `Rails.application.key_generator.generate_key("turbo/signed_stream_verifier_key")`
      # @raise [ArgumentError] the key is short
      def initialize(key)
        if key.bytesize < 32
          raise ArgumentError,
            "the key of signed streams has #{key.bytesize} bytes: use 32 or more, as SecureRandom.hex(32) makes them"
        end
        @key = key
      end

      # @param stream [String]
      # @return [String] for a page
      def sign(stream)
        data = [JSON.generate(stream)].pack("m0")
        "#{data}--#{digest(data)}"
      end

      # @param signed [Object] from a client
      # @return [String, nil] the stream; nil: the server has not signed it
      def verify(signed)
        return unless signed.is_a?(String) && signed.bytesize <= LONGEST
        data, signature = signed.split("--", 2)
        unless signature && signature.bytesize == 64 && OpenSSL.fixed_length_secure_compare(signature, digest(data))
          return
        end
        stream = JSON.parse(data.unpack1("m0"), max_nesting: 2)
        stream if stream.is_a?(String)
      rescue ArgumentError, JSON::ParserError
        nil
      end

      # @private
      def inspect = "#<#{self.class.name}>"

      private

      def digest(data) = OpenSSL::HMAC.hexdigest("SHA256", @key, data)
    end
  end
end
