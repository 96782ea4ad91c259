# frozen_string_literal: true

require "active_model/secure_password"
require "securerandom"

module Pelton
  module Record
    # Tokens and passwords.
    module Secure
      # Gives new objects a random token, and defines `regenerate_NAME`.
      #
      # @param name [Symbol] a column
      # @param length [Integer] characters of an alphabet of 58; 24 are 140 bits
      # @return [nil]
      # @raise [ArgumentError] if it is short enough to guess
      def has_secure_token(name = :token, length: 24)
        raise ArgumentError, "a token has 24 characters or more, not #{length}" if length < 24
        before_create { self[name] ||= Secure.token(length) }
        define_method(:"regenerate_#{name}") { update!(name => Secure.token(length)) }
        nil
      end

      # Stores a password as its bcrypt digest, in the column NAME_digest: ActiveModel's has_secure_password. Needs the gem bcrypt.
      #
      # @param name [Symbol]
      # @param validations [Boolean]
      # @return [nil]
      def has_secure_password(name = :password, **options)
        super
        nil
      rescue LoadError
        raise Error, 'has_secure_password needs the gem bcrypt: add `gem "bcrypt"` to the Gemfile'
      end

      # Returns the object with these attributes, if the password matches. Takes as long if there is no such object.
      #
      # @example User.authenticate_by(email: email, password: password)
      # @return [Model, nil]
      # @asynchronous
      def authenticate_by(attributes)
        passwords, others = attributes.to_h.transform_keys(&:to_sym).partition { |name, _| method_defined?(:"authenticate_#{name}") }.map(&:to_h)
        raise ArgumentError, "authenticate_by takes a password, and attributes to find the object by" if passwords.empty? || others.empty?
        return if passwords.values.any? { |one| !one.is_a?(String) || one.empty? }
        record = find_by(others)
        return new(passwords) && nil unless record
        record if passwords.map { |name, password| record.public_send(:"authenticate_#{name}", password) }.all?
      end

      # @private
      def self.token(length) = SecureRandom.alphanumeric(length, chars: ALPHABET)
      ALPHABET = [*"A".."Z", *"a".."z", *"0".."9"] - %w[0 O I l]
      private_constant :ALPHABET
    end
  end
end
