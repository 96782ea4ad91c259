# frozen_string_literal: true

require "json"

module Pelton
  module Web
    # Data of a client across requests: a Hash of JSON values, encrypted in a cookie. It is decrypted on first use, and
    # sent if it has changed, also deep inside (`session["cart"] << 7`).
    #
    # A cookie that was changed, cut off, has an unknown secret or has expired gives an empty session, never an error.
    class Session
      include Enumerable

      # Bytes of the encrypted session and the cookie's name.
      MAXIMUM = Cookies::MAXIMUM
      PURPOSE = "session"
      private_constant :PURPOSE

      # @param token [String, nil] from the client
      # @param secrets [Secrets]
      # @param lifetime [Integer] seconds after the last change; a session in use is renewed in the second half
      def initialize(token, secrets:, lifetime:)
        @token = token
        @secrets = secrets
        @lifetime = lifetime
      end

      # @return [Object, nil] a JSON value: Hashes in it have String keys. Strings are frozen
      def [](key)
        value = data[key.to_s]
        @touched = true unless value.frozen? # an Array or Hash, which may be changed from now on
        value
      end

      # @param value [Object] nil, true, false, numbers, Strings, Symbols (which become Strings), Arrays and Hashes of
      #   these
      # @raise [ArgumentError] if it is no JSON value
      def []=(key, value)
        value = json_value(value)
        data[key.to_s] = value
        @touched = true
      end
      alias_method :store, :[]=

      # @raise [KeyError] if it is absent, and there is neither a default nor a block
      def fetch(key, *default, &block)
        self[key]
        data.fetch(key.to_s, *default, &block)
      end

      # @param key [String, Symbol]
      # @param path [Array] keys and indexes inside the value
      # @return [Object, nil]
      def dig(key, *path) = path.empty? ? self[key] : self[key]&.dig(*path)

      def key?(key) = data.key?(key.to_s)
      alias_method :has_key?, :key?
      alias_method :include?, :key?

      # @return [Object, nil] the value
      def delete(key)
        @touched = true
        data.delete(key.to_s)
      end

      # @param values [Hash]
      # @return [self]
      def update(values)
        values.each { |key, value| self[key] = value }
        self
      end
      alias_method :merge!, :update

      # Removes all values.
      #
      # @return [self]
      def clear
        data.clear
        @touched = true
        self
      end
      alias_method :destroy, :clear

      def empty? = data.empty?

      # @return [Array<String>]
      def keys = data.keys

      # @yieldparam key [String]
      # @yieldparam value [Object]
      def each(&block)
        @touched = true
        data.each(&block)
      end

      # @return [Hash{String => Object}] a deep copy
      def to_hash = JSON.parse(JSON.generate(data))
      alias_method :to_h, :to_hash

      # @return [Boolean] whether it was used
      def loaded? = !!@data

      # Returns the cookie's value. Converts to JSON only a session that may have changed, and only once.
      #
      # @return [String, nil, false] the encrypted session; nil if it has become empty; false if it has not changed
      # @private
      def commit
        return false unless loaded?
        text = @touched ? JSON.generate(data) : @text
        return @token ? nil : false if data.empty?
        return false if text == @text && !renew?
        @text = text
        @touched = @renew = false
        @token = @secrets.encrypt(text, purpose: PURPOSE, expires_at: Time.now.to_i + @lifetime)
      end

      def inspect = "#<#{self.class}#{" #{@data.keys.join(" ")}" if @data}>" # its values may be secret

      private

      def data = @data ||= load

      def load
        message = @token && @secrets.decrypt(@token, purpose: PURPOSE) or return {}
        @renew = message.outdated || message.expires_at - Process.clock_gettime(Process::CLOCK_REALTIME,
          :second) < @lifetime / 2
        @text = message.text
        JSON.parse(@text).each_value { |value| value.freeze if value.is_a?(String) }
      end

      def renew? = @renew

      # A copy of a value as the next request will read it.
      def json_value(value)
        case value
        when nil, true, false, Integer then value
        when Float then value.finite? ? value : raise(ArgumentError, "JSON cannot say #{value}")
        when Symbol then value.name
        when String then json_string(value)
        when Array then value.map { |one| json_value(one) }
        when Hash then value.to_h { |key, one| [json_string(key.to_s), json_value(one)] }
        else raise ArgumentError, "a session keeps what JSON can say, and not #{value.class}: keep its id, or its text"
        end
      end

      def json_string(text)
        text = text.encode(Encoding::UTF_8) unless text.encoding == Encoding::UTF_8
        return -text if text.valid_encoding?
        raise ArgumentError, "a session keeps text, and this is no UTF-8: #{text.inspect}"
      rescue EncodingError
        raise ArgumentError, "a session keeps text, and this is binary: #{text.inspect}"
      end
    end

    class Settings
      # @!attribute session_name
      #   @return [String] the cookie's name; prefixed with "__Host-" for Secure cookies, so that other hosts of the
      #     domain cannot set it
      setting(:session_name, "session") { |value| "must be a String" unless value.is_a?(String) }

      # @!attribute session_lifetime
      #   @return [Integer] seconds for which a session is valid after its last change; two weeks by default
      setting(:session_lifetime, 14 * 86_400) do |value|
        "must be a number of seconds" unless value.is_a?(Integer) && value.positive?
      end

      # @!attribute session_persistent
      #   @return [Boolean] whether the session outlives the browser; false by default
      setting(:session_persistent, false) { |value| "must be true or false" unless [true, false].include?(value) }

      # @!attribute session_same_site
      #   @return [Symbol] :lax, :strict or :none; :lax by default
      setting(:session_same_site, :lax) do |value|
        "must be :lax, :strict or :none" unless %i[lax strict none].include?(value)
      end
    end
  end
end
