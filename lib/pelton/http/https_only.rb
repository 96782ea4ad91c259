# frozen_string_literal: true

module Pelton
  module HTTP
    # Redirects requests that came without TLS (`https_only`), and tells browsers to use TLS alone (`hsts`, RFC 6797).
    # @private
    class HTTPSOnly
      # Methods after which a browser may repeat the request as a GET.
      SAFE = %w[GET HEAD].freeze
      private_constant :SAFE

      # @param app [#call]
      # @param redirect [Boolean]
      # @param hsts [Numeric, nil] seconds
      # @param port [Integer] where this server has TLS, for clients that name a port
      def initialize(app, redirect:, hsts: nil, port: 443)
        @app = app
        @redirect = redirect
        @hsts = "max-age=#{hsts.to_i}" if hsts
        @port = port
      end

      # @return [Array(Integer, Hash, Object)]
      # @asynchronous
      def call(env)
        return @app.call(env) unless secure?(env) || @redirect
        return redirection(env) unless secure?(env)
        response = @app.call(env)
        return response unless @hsts && response.is_a?(Array) && response[1].respond_to?(:to_hash)
        status, headers, body = response
        [status, {"strict-transport-security" => @hsts}.merge(headers.to_hash), body]
      end

      private

      # A proxy that has TLS says so.
      def secure?(env) = env["rack.url_scheme"] == "https" || env["HTTP_X_FORWARDED_PROTO"] == "https"

      def redirection(env)
        host, port = env["HTTP_HOST"].to_s.match(/\A(\[[^\]]*\]|[^:]*)(?::(\d+))?\z/)&.captures
        return [400, {"content-type" => "text/plain"}, ["the request has no host\n"]] if host.nil? || host.empty?
        place = "https://#{host}#{":#{@port}" if port && @port != 443}#{env["SCRIPT_NAME"]}#{env["PATH_INFO"]}"
        place << "?#{env["QUERY_STRING"]}" unless env["QUERY_STRING"].to_s.empty?
        [SAFE.include?(env["REQUEST_METHOD"]) ? 301 : 308,
          {"location" => place, "content-type" => "text/plain", "content-length" => "0"}, []]
      end
    end
  end
end
