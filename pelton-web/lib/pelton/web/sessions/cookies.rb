# frozen_string_literal: true

require "time"

module Pelton
  module Web
    # Raised if a cookie is larger than browsers accept.
    class CookieOverflow < Pelton::Error
    end

    # The cookies of a request and its response (RFC 6265bis). Only changed cookies are sent.
    #
    #     cookies[:theme] = "dark"
    #     cookies[:theme] = {value: "dark", max_age: 86_400 * 365}
    #     cookies.encrypted[:draft] = {"title" => "..."}
    #     cookies.delete(:theme)
    #
    # By default a cookie is HttpOnly and SameSite=Lax, valid for the whole site, and Secure if the request came by TLS.
    class Cookies
      include Opaque

      # Bytes of a name and its value: browsers drop longer cookies.
      MAXIMUM = 4096
      ATTRIBUTES = %i[value path domain max_age expires secure httponly same_site partitioned].freeze
      SAME_SITE = %i[strict lax none].freeze
      ATTRIBUTE_VALUE = /\A[\x20-\x3a\x3c-\x7e]*\z/
      BLANKS = " \t".bytes.freeze
      SEMICOLON = ";".ord
      private_constant :ATTRIBUTES, :SAME_SITE, :ATTRIBUTE_VALUE, :BLANKS, :SEMICOLON

      # @param env [Hash] Rack's
      # @param secrets [Array<String>, nil] for {#signed} and {#encrypted}: see {Secrets}
      # @param secure [Boolean] whether cookies are Secure by default
      def initialize(env, secrets: nil, secure: env["rack.url_scheme"] == "https")
        @header = env["HTTP_COOKIE"]&.b
        @secrets = secrets
        @secure = secure
      end

      # @return [Boolean] whether cookies are Secure by default
      def secure? = @secure

      # @return [String, nil] nil if there is none, or its value is not UTF-8
      def [](name)
        name = name.to_s
        @values&.key?(name) ? @values[name] : received(name)
      end

      def key?(name) = !self[name].nil?

      # @return [Hash{String => String}] the request's cookies, with the changes of the response
      def to_h = all.merge!(@values.to_h).compact

      # Sets a cookie. Sends nothing if the client sent the same value, and no attributes are given.
      #
      # @param name [String, Symbol]
      # @param value [String, Hash] a Hash has `value:` and attributes: `path:` ("/"), `domain:` (this host only),
      #   `max_age:` in seconds or `expires:` as a Time (by default the cookie ends with the browser), `secure:`,
      #   `httponly:` (true), `same_site:` (:lax; :strict, :none), `partitioned:`
      # @raise [ArgumentError] if the name or an attribute is malformed, or browsers would refuse the combination
      # @raise [CookieOverflow] if name and value are larger than {MAXIMUM}
      def []=(name, value)
        name = name.to_s
        attributes = value.is_a?(Hash) ? value : {value: value}
        text = attributes[:value].to_s
        return if attributes.size == 1 && self[name] == text
        (@written ||= {})[name] = line(name, text, attributes)
        (@values ||= {})[name] = text
      end

      # Deletes a cookie.
      #
      # @param path [String] as when it was set
      # @param domain [String, nil] as when it was set
      # @return [String, nil] its value
      def delete(name, path: "/", domain: nil)
        value = self[name]
        self[name] = {value: "", path: path, domain: domain, max_age: 0}
        @values[name.to_s] = nil
        value
      end

      # @return [Protected] cookies that clients can read but not change. Their values are JSON
      def signed = @signed ||= Protected.new(self, secrets, :sign, :verify)

      # @return [Protected] cookies that clients can neither read nor change. Their values are JSON
      def encrypted = @encrypted ||= Protected.new(self, secrets, :encrypt, :decrypt)

      # @raise [ConfigurationError] if there are none
      # @private
      def secrets = Secrets.of(@secrets || [])

      # Adds changed cookies to a response's headers.
      #
      # @return [Boolean, nil] whether there were any
      def write(headers)
        return unless @written
        lines = [*headers["set-cookie"], *@written.values]
        headers["set-cookie"] = (lines.size == 1) ? lines.first : lines
        @written = nil
        true
      end

      # Signed or encrypted cookies. One that the client changed, that has an unknown secret or has expired is absent.
      # The signature includes the name, so one cookie's value is not accepted for another.
      class Protected
        include Opaque

        # @private
        def initialize(cookies, secrets, write, read)
          @cookies, @secrets, @write, @read = cookies, secrets, write, read
        end

        # @return [Object, nil] the JSON value
        def [](name)
          message = @secrets.public_send(@read, @cookies[name], purpose: purpose(name))
          message && JSON.parse(message.text).first
        end

        # @param value [Object] a JSON value, or a Hash with `value:` and attributes as in {Cookies#[]=}. `max_age:` and
        #   `expires:` are also checked here, whatever the client does
        # @raise (see Cookies#[]=)
        def []=(name, value)
          attributes = (value.is_a?(Hash) && value.key?(:value)) ? value : {value: value}
          expires_at = attributes[:max_age] ? Time.now.to_i + attributes[:max_age] : attributes[:expires]
          text = @secrets.public_send(@write, JSON.generate([attributes[:value]]), purpose: purpose(name),
            expires_at: expires_at)
          @cookies[name] = attributes.merge(value: text)
        end

        # (see Cookies#delete)
        def delete(name, **options)
          value = self[name]
          @cookies.delete(name, **options)
          value
        end

        private

        def purpose(name) = "cookie #{name}"
      end

      private

      # Finds a cookie in the header. A page usually asks for one of many, so the others are not parsed. The first of a
      # name counts.
      def received(name)
        start = start_of("#{name}=") or return
        value(@header.byteslice(start, (@header.index(";", start) || @header.bytesize) - start))
      end

      def value(text)
        text = unescape(text) if text.match?(/[%+]/)
        text.force_encoding(Encoding::UTF_8)
        text if text.valid_encoding? && !text.include?("\0")
      end

      # The position after "name=", which must be at the start or after a semicolon: inside a value it is text.
      def start_of(name)
        place = -1
        while (place = @header&.index(name, place + 1)) # nil if it is not there
          return place + name.bytesize if first_of_pair?(place)
        end
      end

      # Reads back to the text before, and not the whole header, in which the name may occur thousands of times.
      def first_of_pair?(place)
        place -= 1 while place.positive? && BLANKS.include?(@header.getbyte(place - 1))
        place.zero? || @header.getbyte(place - 1) == SEMICOLON
      end

      # The first of a name counts, as in {#[]}.
      def all
        @header.to_s.split(";").each_with_object({}) do |pair, found|
          name, text = pair.lstrip.split("=", 2)
          found[name] = value(text) if text && !found.key?(name)
        end
      end

      def unescape(value)
        Rack::Utils.unescape(value)
      rescue ArgumentError # a percent sign that is no escape stands for itself
        value
      end

      def line(name, text, attributes)
        check(attributes) if attributes.size > 1
        attributes = {path: "/", secure: @secure, httponly: true, same_site: :lax, **attributes, value: text}
        attributes[:path] ||= "/"
        check_refusals(name, attributes)
        line = Rack::Utils.set_cookie_header(name, attributes)
        size = line.index(";") - 1
        if size > MAXIMUM
          raise CookieOverflow,
            "the cookie #{name} has #{size} bytes; browsers keep #{MAXIMUM} at most: keep its data elsewhere"
        end
        line
      end

      # Checks attributes that Rack would write unchecked.
      def check(attributes)
        unless SAME_SITE.include?(attributes.fetch(:same_site, :lax))
          raise ArgumentError, "same_site: must be #{SAME_SITE.join(", ")}"
        end
        attributes.each do |name, value|
          unless ATTRIBUTES.include?(name)
            raise ArgumentError, "a cookie has no #{name}: it has #{ATTRIBUTES.join(", ")}"
          end
          Integer(value) if name == :max_age && value
          if (name == :path || name == :domain) && value && !ATTRIBUTE_VALUE.match?(value)
            raise ArgumentError, "the #{name} of a cookie cannot be #{value.inspect}"
          end
        end
      end

      # Checks combinations that browsers silently drop.
      def check_refusals(name, attributes)
        secure = attributes[:secure]
        if name.start_with?("__Host-") && !(secure && attributes[:path] == "/" && attributes[:domain].nil?)
          raise ArgumentError,
            "the cookie #{name} must be Secure, have the path / and no domain: browsers refuse it otherwise"
        end
        return if secure
        cause = "its name begins with __Secure-" if name.start_with?("__Secure-")
        cause ||= "same_site: is :none" if attributes[:same_site] == :none
        cause ||= "it is partitioned" if attributes[:partitioned]
        raise ArgumentError, "the cookie #{name} must be Secure, since #{cause}: browsers refuse it otherwise" if cause
      end
    end

    class Settings
      # @!attribute secure_cookies
      #   @return [Boolean, nil] whether cookies are Secure; nil, the default, if the request came by TLS
      setting(:secure_cookies) { |value| "must be true, false or nil" unless [true, false, nil].include?(value) }
    end
  end
end
