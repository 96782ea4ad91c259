# frozen_string_literal: true

require "openssl"
require "securerandom"
require_relative "secrets/recent"

module Pelton
  module Web
    # Encrypts and signs texts that clients keep: sessions and cookies.
    #
    # The first secret encrypts and signs, all decrypt and verify. To rotate, prepend the new secret, and remove the old
    # one when everything that it encrypted has expired.
    #
    # Texts are encrypted by AES-256-GCM. Keys are derived from the secret by HKDF (RFC 5869). Each text has its own
    # key, derived from 16 random bytes, so key and nonce never repeat, however many texts there are.
    #
    # Decrypted texts are cached for a while by their whole token ({Recent}), because a client sends the same one with
    # each request.
    class Secrets
      # Minimum bytes of a secret.
      LEAST = 32
      # @private
      MAKE = "`ruby -rsecurerandom -e 'puts SecureRandom.hex(64)'` prints one"

      # A decrypted or verified text. Both members are frozen.
      #
      # @!attribute [r] text
      #   @return [String]
      # @!attribute [r] expires_at
      #   @return [Integer, nil] seconds since 1970
      # @!attribute [r] outdated
      #   @return [Boolean] whether an old secret was used
      Message = Struct.new(:text, :expires_at, :outdated)

      CIPHER = "aes-256-gcm"
      SALT = 16
      NONCE = 12
      TAG = 16
      SIGNATURE = 32
      NEVER = 0
      private_constant :CIPHER, :SALT, :NONCE, :TAG, :SIGNATURE, :NEVER

      @known = {}

      class << self
        # @return [Secrets] the same object for the same texts, because deriving keys takes time
        # @private
        def of(texts) = @known[texts] ||= new(texts)
      end

      # @param texts [String, Array<String>] of at least {LEAST} bytes
      # @raise [ConfigurationError] if there is none, or one is too short
      def initialize(texts)
        texts = Array(texts)
        if texts.empty?
          raise ConfigurationError,
            "there is no secret: set settings.secrets, for instance to [ENV.fetch(\"SECRET_KEY_BASE\")]"
        end
        unless texts.all? { |text| text.is_a?(String) && text.bytesize >= LEAST }
          raise ConfigurationError, "each of the secrets must be a String of #{LEAST} bytes or more: #{MAKE}"
        end
        @encryption = texts.map { |text| key(text, "encryption") }
        @signature = texts.map { |text| key(text, "signature") }
        @recent = Recent.new
        freeze
      end

      # @param text [String]
      # @param purpose [String] a text encrypted for one purpose is not accepted for another
      # @param expires_at [Integer, Time, nil] when it expires
      # @return [String] letters, digits, - and _; about 4/3 of the text plus 70 bytes
      def encrypt(text, purpose:, expires_at: nil)
        salt = SecureRandom.random_bytes(SALT)
        nonce = SecureRandom.random_bytes(NONCE)
        cipher = cipher(:encrypt, @encryption.first, salt, nonce, purpose)
        data = cipher.update(stamp(expires_at) + text.b) << cipher.final
        encode(salt << nonce << data << cipher.auth_tag(TAG))
      end

      # @param token [String, nil] from {#encrypt}, or anything else that a client sent
      # @return [Message, nil] nil if it was changed or cut off, has expired, or has another purpose or an unknown
      #   secret
      def decrypt(token, purpose:)
        valid(@recent.fetch(token, purpose) { decrypted(token, purpose) })
      end

      # Signs a text, which stays readable.
      #
      # @param (see #encrypt)
      def sign(text, purpose:, expires_at: nil)
        data = stamp(expires_at) + text.b
        encode(signature(@signature.first, purpose, data) << data)
      end

      # @param token [String, nil] from {#sign}, or anything else that a client sent
      # @return [Message, nil] as from {#decrypt}
      def verify(token, purpose:)
        bytes = decode(token) or return
        given, data = bytes.byteslice(0, SIGNATURE), bytes.byteslice(SIGNATURE..)
        return unless data
        index = @signature.index { |key| OpenSSL.secure_compare(signature(key, purpose, data), given) }
        valid(index && message(data, index))
      end

      def inspect = "#<#{self.class}>" # keeps the keys out of logs

      private

      def key(text, use) = OpenSSL::KDF.hkdf(text, salt: "", info: "pelton-web #{use} 1", length: 32, hash: "SHA256")

      def signature(key, purpose, data)
        OpenSSL::HMAC.digest("SHA256", key, [purpose.bytesize].pack("N") << purpose.b << data)
      end

      def cipher(direction, key, salt, nonce, purpose)
        cipher = OpenSSL::Cipher.new(CIPHER).public_send(direction)
        cipher.key = OpenSSL::HMAC.digest("SHA256", key, salt)
        cipher.iv = nonce
        cipher.auth_data = purpose
        cipher
      end

      def decrypted(token, purpose)
        bytes = decode(token) or return
        return if bytes.bytesize < SALT + NONCE + TAG
        salt, nonce, tag = bytes.byteslice(0, SALT), bytes.byteslice(SALT, NONCE), bytes.byteslice(-TAG, TAG)
        data = bytes.byteslice(SALT + NONCE, bytes.bytesize - SALT - NONCE - TAG)
        @encryption.each_with_index do |key, index|
          text = opened(key, salt, nonce, tag, data, purpose)
          return message(text, index) if text
        end
        nil
      end

      def opened(key, salt, nonce, tag, data, purpose)
        cipher = cipher(:decrypt, key, salt, nonce, purpose)
        cipher.auth_tag = tag
        cipher.update(data) << cipher.final
      rescue OpenSSL::Cipher::CipherError, ArgumentError # raised by update without data
        nil
      end

      def stamp(expires_at) = [expires_at&.to_i || NEVER].pack("Q>")

      def message(data, index)
        expires_at = data.unpack1("Q>") or return
        Message.new(data.byteslice(8..).force_encoding(Encoding::UTF_8).freeze,
          (expires_at unless expires_at == NEVER), index.positive?).freeze
      end

      def valid(message)
        (message if message && (message.expires_at.nil? ||
          message.expires_at > Process.clock_gettime(Process::CLOCK_REALTIME, :second)))
      end

      def encode(bytes) = [bytes].pack("m0").tr("+/", "-_").delete("=")

      def decode(token)
        return unless token.is_a?(String)
        token.tr("-_", "+/").ljust((token.bytesize + 3) / 4 * 4, "=").unpack1("m0")
      rescue ArgumentError # not Base64
        nil
      end
    end

    class Settings
      # The secret of development and tests, if none is set.
      TEMPORARY = [SecureRandom.hex(64)].freeze
      private_constant :TEMPORARY

      # @!attribute secrets
      #   @return [Array<String>] the first encrypts sessions and cookies, all decrypt them: see {Secrets}. By default
      #     SECRET_KEY_BASE; without it an application does not boot in production, and has a random one for each
      #     process elsewhere, with which sessions end. An empty Array is for an application that has neither sessions
      #     nor signed cookies
      setting(:secrets, ->(settings) { settings.__send__(:default_secrets) }, shown: false) do |value|
        unless value.is_a?(Array) && value.all? { |text| text.is_a?(String) && text.bytesize >= Secrets::LEAST }
          "must be an Array of Strings of #{Secrets::LEAST} bytes or more, the newest first: #{Secrets::MAKE}"
        end
      end

      private

      def default_secrets
        text = ENV["SECRET_KEY_BASE"].to_s
        return [text] if text.bytesize >= Secrets::LEAST
        unless text.empty?
          raise ConfigurationError, "SECRET_KEY_BASE has #{text.bytesize} bytes, and needs #{Secrets::LEAST} or " \
            "more: #{Secrets::MAKE}"
        end
        return TEMPORARY unless environment == "production"
        raise ConfigurationError, "SECRET_KEY_BASE is not set, with which sessions and cookies are encrypted: " \
          "#{Secrets::MAKE}. It must be the same in all processes and at each start. (An application without them: " \
          "settings.secrets = [])"
      end
    end
  end
end
