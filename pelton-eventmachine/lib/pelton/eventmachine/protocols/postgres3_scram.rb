# frozen_string_literal: true

require "openssl"
require "securerandom"

module EventMachine
  module Protocols
    # SCRAM-SHA-256 (RFC 5802, RFC 7677) for {Postgres3}: the client proves that it knows the password without sending
    # it, and the server proves the same.
    #
    # @private
    class Postgres3Scram
      include Pelton::Opaque

      NAME = "SCRAM-SHA-256"
      HEADER = "n,,"

      # The server's message breaks the protocol.
      class Wrong < StandardError
      end

      # @param nonce [String] an unpredictable text
      # @param user [String] PostgreSQL ignores it, and uses the name from the login
      def initialize(password, nonce: SecureRandom.base64(18), user: "")
        @password, @nonce = password, nonce
        @first = "n=#{user},r=#{nonce}"
      end

      # @return [String] the client's first message
      def first = HEADER + @first

      # @param challenge [String] the server's first message
      # @return [String] the client's final message
      # @raise [Wrong] when the challenge is malformed
      def final(challenge)
        nonce, salt, rounds = challenge.match(/\Ar=([^,]+),s=([^,]+),i=(\d+)/)&.captures
        raise Wrong, "the server's challenge is malformed" unless nonce&.start_with?(@nonce) && rounds.to_i.positive?
        @salted = OpenSSL::KDF.pbkdf2_hmac(@password, salt: salt.unpack1("m"), iterations: rounds.to_i, length: 32,
          hash: "SHA256")
        unproved = "c=#{[HEADER].pack("m0")},r=#{nonce}"
        @exchange = [@first, challenge, unproved].join(",")
        "#{unproved},p=#{[proof].pack("m0")}"
      end

      # @param message [String] the server's final message
      # @return [Boolean] whether the message proves that the server knows the password
      def proved?(message)
        return false unless @salted
        expected = [hmac(hmac(@salted, "Server Key"), @exchange)].pack("m0")
        OpenSSL.secure_compare(message[/\Av=(.*)/, 1].to_s, expected)
      end

      private

      def proof
        key = hmac(@salted, "Client Key")
        signature = hmac(OpenSSL::Digest::SHA256.digest(key), @exchange)
        key.bytes.zip(signature.bytes).map { |one, other| one ^ other }.pack("C*")
      end

      def hmac(key, text) = OpenSSL::HMAC.digest("SHA256", key, text)
    end
  end
end
