# frozen_string_literal: true

require "securerandom"

module Pelton
  module Web
    # Middleware: headers by which browsers protect a site's users. A header that the application has set itself stays as it is.
    #
    # | header | by default |
    # |---|---|
    # | x-content-type-options | nosniff |
    # | content-security-policy | scripts, styles and the like from this site alone, no plugins, forms to this site, frames by this site |
    # | referrer-policy | strict-origin-when-cross-origin |
    # | cross-origin-opener-policy | same-origin |
    # | strict-transport-security | under TLS in production, for a year |
    #
    # The first is sent with each response, those in the middle with documents: HTML, XML, SVG and PDF.
    class SecurityHeaders
      POLICY = {
        "default-src" => "'self'", "img-src" => "'self' data:", "object-src" => "'none'", "base-uri" => "'self'", "form-action" => "'self'",
        "frame-ancestors" => "'self'"
      }.freeze
      DOCUMENT = /html|xml|pdf/i
      TYPES = 100 # content-types that are remembered
      NONCE = "pelton.web.csp_nonce"
      STORE = Hash.instance_method(:store) # Response::Headers' own checks each text, which takes longer than all of this
      private_constant :DOCUMENT, :TYPES, :STORE

      # @private
      def self.wrap(app, settings)
        return app unless settings.security_headers
        new(app, policy: settings.content_security_policy, strict_transport: settings.strict_transport)
      end

      # The nonce of a request, for the attribute of its scripts and styles. The policy allows it once it was asked for: then the page
      # is this client's alone.
      def self.nonce(env) = env[NONCE] ||= SecureRandom.urlsafe_base64(16)

      # @param app [#call]
      # @param policy [Hash{String => String}, nil] directives of the Content-Security-Policy, which are added to {POLICY}; a directive that is nil is
      #   left out. nil: no policy
      # @param strict_transport [Integer, String, nil] seconds, or the header's text, such as "max-age=63072000; includeSubDomains"
      # @raise [ConfigurationError] a directive is malformed
      def initialize(app, policy: {}, strict_transport: nil)
        @app = app
        @policy = policy && POLICY.merge(policy).compact
        check if @policy
        @strict_transport = strict_transport.is_a?(Integer) ? "max-age=#{strict_transport}" : strict_transport
        @documents = {"referrer-policy" => "strict-origin-when-cross-origin", "cross-origin-opener-policy" => "same-origin"}
        @documents["content-security-policy"] = text if @policy
        @documents.freeze
        @types = {}
      end

      # @asynchronous where the application waits
      def call(env)
        response = @app.call(env)
        return Deferral.change(env, response) { |later| protect(env, later[1]) } if response[0] == -1
        protect(env, response[1])
        response
      end

      private

      def protect(env, headers)
        headers.key?("x-content-type-options") || STORE.bind_call(headers, "x-content-type-options", "nosniff")
        add(headers, "strict-transport-security", @strict_transport) if @strict_transport && env["rack.url_scheme"] == "https"
        CacheControl.own(headers) if env[NONCE]
        documents(env[NONCE]).each { |name, value| add(headers, name, value) } if (type = headers.fetch("content-type", nil)) && document?(type)
      end

      def add(headers, name, value) = headers.key?(name) || STORE.bind_call(headers, name, value)

      # An application has a few content-types.
      def document?(type)
        @types.fetch(type) do
          @types.clear if @types.size >= TYPES
          @types[type] = type.match?(DOCUMENT)
        end
      end

      def documents(nonce) = (nonce && @policy) ? @documents.merge("content-security-policy" => text(nonce)) : @documents

      def text(nonce = nil)
        policy = @policy
        policy = policy.merge(%w[script-src style-src].to_h { |name| [name, "#{policy[name] || policy["default-src"]} 'nonce-#{nonce}'".strip] }) if nonce
        policy.map { |name, sources| "#{name} #{sources}".strip }.join("; ")
      end

      def check
        wrong = @policy.find { |name, sources| !name.to_s.match?(/\A[a-z-]+\z/) || !sources.is_a?(String) || sources.match?(/[;,\r\n]/) }
        raise ConfigurationError, "content_security_policy: #{wrong.inspect}: write {\"img-src\" => \"'self' https://images.example\"}" if wrong
      end
    end

    class Settings
      # @!attribute security_headers
      #   @return [Boolean] whether {SecurityHeaders} are sent; true by default
      setting(:security_headers, true) { |value| "must be true or false" unless [true, false].include?(value) }

      # @!attribute content_security_policy
      #   @return [Hash{String => String}, nil] directives that are added to {SecurityHeaders::POLICY}; nil: no policy
      setting(:content_security_policy, {}.freeze) { |value| "must be a Hash or nil" unless value.nil? || value.is_a?(Hash) }

      # @!attribute strict_transport
      #   @return [Integer, String, nil] seconds for which browsers use TLS only: a year in production by default, nil elsewhere
      setting(:strict_transport, ->(settings) { 31_536_000 if settings.environment == "production" }) do |value|
        "must be seconds, the header's text or nil" unless value.nil? || value.is_a?(Integer) || value.is_a?(String)
      end
    end
  end
end
