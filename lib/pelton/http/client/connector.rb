# frozen_string_literal: true

require "ipaddr"
require "uri"
require_relative "public_addresses"

module Pelton
  module HTTP
    # The server has an address that the client's `allow:` refuses.
    class AddressError < Error
    end

    # Makes the client's connections: to the server or through a proxy, with TLS for https.
    # @private
    class ClientConnector
      include Opaque

      # The environment variables that name proxies.
      NAMES = %w[http_proxy https_proxy HTTP_PROXY HTTPS_PROXY].freeze

      # @param tunnel [Boolean] whether a proxy gets a CONNECT request for http, too
      # @param allow [#call, nil] whether to connect to an address, an IPAddr
      # @param http2_tls [TLS::Context, nil] for connections that may be of HTTP/2
      def initialize(tls:, proxy:, unix:, tunnel: false, allow: nil, http2_tls: nil)
        @tls = tls
        @http2_tls = http2_tls
        @allow = (allow == :public) ? PublicAddresses : allow
        @proxy = proxy.is_a?(String) ? self.class.proxy(proxy) : proxy
        @unix = unix
        @tunnel = tunnel
      end

      # @param http2 [Boolean] whether HTTP/2 is offered by TLS
      # @return [Array(Stream, Hash)] the stream, and the headers for a proxy that gets the requests
      # @raise [ConnectionError, ResolutionError, TLSError, TimeoutError]
      # @raise [AddressError] the server's address is not allowed
      # @raise [ArgumentError] the proxy's URL is invalid, TLS inside of TLS would be needed, or there is a proxy and
      #   `allow:`
      # @asynchronous
      def connect(request, timeout, http2: false)
        deadline = timeout && Clock.now + timeout
        proxy = (@proxy == :environment) ? environment(request.url) : @proxy unless @unix
        tunnelled = proxy && (@tunnel || request.tls?)
        if request.tls? && proxy&.scheme == "https"
          raise ArgumentError,
            "TLS inside of TLS is not supported: #{ClientRequest.shown(request.url)} needs an http:// proxy"
        end
        if @allow && (proxy || @unix)
          raise ArgumentError, "with `allow:`, connections are made to the server itself: set proxy: nil"
        end
        stream = @allow ? open_allowed(request.url, deadline) : open_stream(request, proxy, deadline)
        tunnel(stream, request, proxy, deadline) if tunnelled
        secure(stream, request, deadline, http2) if request.tls?
        made = [stream, (authorization(proxy) if proxy && !tunnelled)]
      ensure # Ruby's Timeout leaves by throw
        stream&.abort unless made
      end

      private

      def open_stream(request, proxy, deadline)
        return Pelton.connect_unix(@unix, timeout: left(deadline)) if @unix
        target = proxy || request.url
        Pelton.connect(target.hostname, target.port, timeout: left(deadline),
          tls: proxy&.scheme == "https" && (@tls || true))
      rescue Error => error
        raise proxy ? error.exception("the proxy: #{error.message}") : error
      end

      # The name is looked up once, since it may lead to another address each time. No connection is made to an address
      # that is refused.
      def open_allowed(url, deadline)
        Notifications.instrument("connect.stream", {host: url.hostname, port: url.port}) do
          found = Resolver.resolve(url.hostname, url.port, timeout: left(deadline))
          allowed = found.select { |address| @allow.call(IPAddr.new(address.ip_address[/[^%]+/])) }
          if allowed.empty?
            raise AddressError,
              "#{url.hostname} is #{found.map(&:ip_address).join(", ")}, which `allow:` of the client refuses"
          end
          Connector.connect(allowed, deadline: Clock.now + left(deadline))
        end
      end

      # The proxy by http_proxy, https_proxy and no_proxy. Many users leave out the scheme, which the standard library
      # does not allow.
      def environment(url)
        names = ENV.to_h.slice(*NAMES).transform_values do |value|
          value.match?(%r{\A\s*\z|//}) ? value : "http://#{value}"
        end
        url.find_proxy(ENV.to_h.merge(names))&.then { |proxy| self.class.proxy(proxy) }
      rescue URI::InvalidURIError => error
        raise ArgumentError, "http_proxy or https_proxy: #{error.message}"
      end

      def secure(stream, request, deadline, http2)
        context = http2 ? @http2_tls || self.class.http2_tls : @tls || self.class.tls
        stream.start_tls(context, server_name: request.url.hostname, timeout: left(deadline))
      end

      # Asks the proxy to connect to the server. The proxy passes on all later bytes.
      def tunnel(stream, request, proxy, deadline)
        authority = "#{request.url.host}:#{request.url.port}"
        headers = {"host" => authority}.merge(authorization(proxy)).map { |name, value| "#{name}: #{value}\r\n" }.join
        stream.write("CONNECT #{authority} HTTP/1.1\r\n#{headers}\r\n")
        parser = Parser.new(:response)
        parser.no_body = true
        parser.feed(stream.readpartial(65_536, timeout: left(deadline))) until (head = parser.next)
        return if (200..299).cover?(head[0]) && parser.rest.empty?
        raise ConnectionError,
          "the proxy #{proxy.host}:#{proxy.port} refuses to connect to #{authority}: #{head[0]} #{head[1]}"
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
        # @param url [URI, String] the proxy's URL, or "host:port"
        # @raise [ArgumentError] the URL is invalid
        def proxy(url)
          url = "http://#{url}" unless url.to_s.include?("//")
          ClientRequest.parse(url)
        rescue ArgumentError => error
          raise ArgumentError, "the proxy: #{error.message}"
        end

        # The context of clients without a `tls:` option.
        def tls = @tls ||= HTTP.tls_context({})

        # The same of connections that may be of HTTP/2.
        def http2_tls = @http2_tls ||= HTTP.tls_context({}, http2: true)
      end
    end
  end
end
