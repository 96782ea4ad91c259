# frozen_string_literal: true

require "uri"

module Pelton
  module HTTP
    # Makes the client's connections: to the server, or by way of a proxy, with TLS where the URL says so.
    # @private
    class ClientConnector
      # Of the environment's variables, those that name proxies.
      NAMES = %w[http_proxy https_proxy HTTP_PROXY HTTPS_PROXY].freeze

      # @param tunnel [Boolean] a proxy carries http, too, without looking into it
      def initialize(tls:, proxy:, unix:, tunnel: false)
        @tls = tls
        @proxy = proxy.is_a?(String) ? self.class.proxy(proxy) : proxy
        @unix = unix
        @tunnel = tunnel
      end

      # @return [Array(Stream, Hash)] the stream, and, when requests go to a proxy, the headers that it wants
      # @asynchronous
      def connect(request, timeout)
        deadline = timeout && Clock.now + timeout
        proxy = (@proxy == :environment) ? environment(request.url) : @proxy unless @unix
        tunnelled = proxy && (@tunnel || request.tls?)
        raise ArgumentError, "TLS inside of TLS is not spoken: #{request.url} needs an http:// proxy" if request.tls? && proxy&.scheme == "https"
        stream = open_stream(request, proxy, deadline)
        tunnel(stream, request, proxy, deadline) if tunnelled
        secure(stream, request, deadline) if request.tls?
        made = [stream, (authorization(proxy) if proxy && !tunnelled)]
      ensure # a throw may leave it, too: Ruby's Timeout does so
        stream&.abort unless made
      end

      private

      def open_stream(request, proxy, deadline)
        return Pelton.connect_unix(@unix, timeout: left(deadline)) if @unix
        target = proxy || request.url
        Pelton.connect(target.hostname, target.port, timeout: left(deadline), tls: proxy&.scheme == "https" && (@tls || true))
      rescue Error => error
        raise proxy ? error.exception("the proxy: #{error.message}") : error
      end

      # As http_proxy, https_proxy and no_proxy say. Many leave out the scheme, which the standard library does not allow.
      def environment(url)
        names = ENV.to_h.slice(*NAMES).transform_values { |value| value.match?(%r{\A\s*\z|//}) ? value : "http://#{value}" }
        url.find_proxy(ENV.to_h.merge(names))&.then { |proxy| self.class.proxy(proxy) }
      rescue URI::InvalidURIError => error
        raise ArgumentError, "http_proxy or https_proxy: #{error.message}"
      end

      def secure(stream, request, deadline)
        stream.start_tls(@tls || self.class.tls, server_name: request.url.hostname, timeout: left(deadline))
      end

      # What lies behind the proxy is seen by the server alone.
      def tunnel(stream, request, proxy, deadline)
        authority = "#{request.url.host}:#{request.url.port}"
        headers = {"host" => authority}.merge(authorization(proxy)).map { |name, value| "#{name}: #{value}\r\n" }.join
        stream.write("CONNECT #{authority} HTTP/1.1\r\n#{headers}\r\n")
        parser = Parser.new(:response)
        parser.no_body = true
        parser.feed(stream.readpartial(65_536, timeout: left(deadline))) until (head = parser.next)
        return if (200..299).cover?(head[0]) && parser.rest.empty?
        raise ConnectionError, "the proxy #{proxy.host}:#{proxy.port} refuses to connect to #{authority}: #{head[0]} #{head[1]}"
      rescue EOFError
        raise ConnectionError, "the proxy #{proxy.host}:#{proxy.port} closed the connection"
      end

      def authorization(proxy)
        return {} unless proxy.userinfo
        parts = [proxy.user, proxy.password].map { |part| URI.decode_www_form_component(part.to_s.gsub("+", "%2B")) }
        {"proxy-authorization" => "Basic #{[parts.join(":")].pack("m0")}"}
      end

      def left(deadline) = deadline ? Clock.left(deadline) : 86_400

      class << self
        # @param url [URI, String] of a proxy; "host:port" will do
        # @raise [ArgumentError]
        def proxy(url)
          url = "http://#{url}" unless url.to_s.include?("//")
          ClientRequest.parse(url)
        rescue ArgumentError => error
          raise ArgumentError, "the proxy: #{error.message}"
        end

        # Of clients that say nothing of TLS.
        def tls = @tls ||= HTTP._tls({})
      end
    end
  end
end
