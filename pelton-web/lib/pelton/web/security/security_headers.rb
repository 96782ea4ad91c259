# frozen_string_literal: true

require "securerandom"

module Pelton
  module Web
    # Middleware: sets headers by which browsers protect a site's users. Headers that the application sets are kept.
    #
    # | header | default |
    # |---|---|
    # | x-content-type-options | nosniff |
    # | content-security-policy | scripts, styles and so on from this site only, no plugins, forms to this site, frames by this site |
    # | referrer-policy | strict-origin-when-cross-origin |
    # | cross-origin-opener-policy | same-origin |
    # | strict-transport-security | under TLS in production, for a year |
    #
    # The first is sent with every response, those in the middle with documents: HTML, XML, SVG and PDF.
    class SecurityHeaders
      POLICY = {
        "default-src" => "'self'", "img-src" => "'self' data:", "object-src" => "'none'", "base-uri" => "'self'",
        "form-action" => "'self'",
        "frame-ancestors" => "'self'"
      }.freeze
      DOCUMENT = /html|xml|pdf/i
      TYPES = 100 # remembered content-types
      NONCE = "pelton.web.csp_nonce"
      # That of Response::Headers checks each text, which takes longer than all of this
      STORE = Hash.instance_method(:store)
      private_constant :DOCUMENT, :TYPES, :STORE

      # @private
      def self.wrap(app, settings)
        return app unless settings.security_headers
        new(app, policy: settings.content_security_policy, strict_transport: settings.strict_transport)
      end

      # Returns a request's nonce, for its scripts and styles. Once called, the policy allows it, and the page is
      # private.
      def self.nonce(env) = env[NONCE] ||= SecureRandom.urlsafe_base64(16)

      # @param app [#call]
      # @param policy [Hash{String => String}, nil] directives added to the Content-Security-Policy {POLICY}; nil
      #   removes a directive, or the policy
      # @param strict_transport [Integer, String, nil] seconds, or the header's value, such as "max-age=63072000;
      #   includeSubDomains"
      # @raise [ConfigurationError] if a directive is malformed
      def initialize(app, policy: {}, strict_transport: nil)
        @app = app
        @policy = policy && POLICY.merge(policy).compact
        check if @policy
        @strict_transport = strict_transport.is_a?(Integer) ? "max-age=#{strict_transport}" : strict_transport
        @documents = {"referrer-policy" => "strict-origin-when-cross-origin",
                      "cross-origin-opener-policy" => "same-origin"}
        @documents["content-security-policy"] = text if @policy
        @documents.freeze
        @types = {}
      end

      # @asynchronous if the application waits
      def call(env)
        response = @app.call(env)
        return Deferral.change(env, response) { |later| protect(env, later[1]) } if response[0] == -1
        protect(env, response[1])
        response
      end

      private

      def protect(env, headers)
        headers.key?("x-content-type-options") || STORE.bind_call(headers, "x-content-type-options", "nosniff")
        if @strict_transport && env["rack.url_scheme"] == "https"
          add(headers, "strict-transport-security", @strict_transport)
        end
        CacheControl.own(headers) if env[NONCE]
        if (type = headers.fetch("content-type", nil)) && document?(type)
          documents(env[NONCE]).each { |name, value| add(headers, name, value) }
        end
      end

      def add(headers, name, value) = headers.key?(name) || STORE.bind_call(headers, name, value)

      # An application has few content-types.
      def document?(type)
        @types.fetch(type) do
          @types.clear if @types.size >= TYPES
          @types[type] = type.match?(DOCUMENT)
        end
      end

      def documents(nonce)
        (nonce && @policy) ? @documents.merge("content-security-policy" => text(nonce)) : @documents
      end

      def text(nonce = nil)
        policy = @policy
        if nonce
          policy =
            policy.merge(%w[script-src style-src]
              .to_h { |name| [name, "#{policy[name] || policy["default-src"]} 'nonce-#{nonce}'".strip] })
        end
        policy.map { |name, sources| "#{name} #{sources}".strip }.join("; ")
      end

      def check
        wrong = @policy.find do |name, sources|
          !name.to_s.match?(/\A[a-z-]+\z/) || !sources.is_a?(String) || sources.match?(/[;,\r\n]/)
        end
        if wrong
          raise ConfigurationError,
            "content_security_policy: #{wrong.inspect}: write {\"img-src\" => \"'self' https://images.example\"}"
        end
      end
    end

    class Settings
      # @!attribute security_headers
      #   @return [Boolean] whether to send {SecurityHeaders}; true by default
      setting(:security_headers, true) { |value| "must be true or false" unless [true, false].include?(value) }

      # @!attribute content_security_policy
      #   @return [Hash{String => String}, nil] directives added to {SecurityHeaders::POLICY}; nil for no policy
      setting(:content_security_policy, {}.freeze) do |value|
        "must be a Hash or nil" unless value.nil? || value.is_a?(Hash)
      end

      # @!attribute strict_transport
      #   @return [Integer, String, nil] seconds for which browsers use only TLS: by default a year in production,
      #     otherwise nil
      setting(:strict_transport, ->(settings) { 31_536_000 if settings.environment == "production" }) do |value|
        "must be seconds, the header's text or nil" unless value.nil? || value.is_a?(Integer) || value.is_a?(String)
      end
    end
  end
end
