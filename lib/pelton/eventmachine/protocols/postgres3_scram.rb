# frozen_string_literal: true

require "openssl"
require "securerandom"

module EventMachine
  module Protocols
    # How {Postgres3} proves that it knows a password without sending it, and has the server prove the same: SCRAM-SHA-256
    # (RFC 5802, RFC 7677).
    #
    # @private
    class Postgres3Scram
      NAME = "SCRAM-SHA-256"
      HEADER = "n,,"

      # The server's message does not belong here.
      class Wrong < StandardError
      end

      # @param nonce [String] nobody can foresee it
      # @param user [String] PostgreSQL takes the one of the login instead
      def initialize(password, nonce: SecureRandom.base64(18), user: "")
        @password, @nonce = password, nonce
        @first = "n=#{user},r=#{nonce}"
      end

      # @return [String] the first message
      def first = HEADER + @first

      # @param challenge [String] the server's first message
      # @return [String] the answer
      # @raise [Wrong]
      def final(challenge)
        nonce, salt, rounds = challenge.match(/\Ar=([^,]+),s=([^,]+),i=(\d+)/)&.captures
        raise Wrong, "the server's challenge is malformed" unless nonce&.start_with?(@nonce) && rounds.to_i.positive?
        @salted = OpenSSL::KDF.pbkdf2_hmac(@password, salt: salt.unpack1("m"), iterations: rounds.to_i, length: 32, hash: "SHA256")
        unproved = "c=#{[HEADER].pack("m0")},r=#{nonce}"
        @exchange = [@first, challenge, unproved].join(",")
        "#{unproved},p=#{[proof].pack("m0")}"
      end

      # @param message [String] the server's last
      def server_knows?(message)
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
