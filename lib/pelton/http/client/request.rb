# frozen_string_literal: true

require "json"
require "uri"
require_relative "body"

module Pelton
  module HTTP
    # A request of the client: method, URL, headers and body, all checked.
    # @private
    class ClientRequest
      include Opaque

      NONE = Object.new.freeze

      TOKEN = /\A[!#$%&'*+\-.^_`|~0-9A-Za-z]+\z/
      private_constant :TOKEN

      # Headers that redirects to another origin must not take along.
      SECRETS = %w[authorization cookie proxy-authorization].freeze

      # Methods of requests that may be sent again, though the first one may have arrived (RFC 9110, 9.2.2).
      IDEMPOTENT = %w[GET HEAD OPTIONS TRACE PUT DELETE].freeze

      # Characters that a URL must not contain, though many a Location header does. Control characters are not escaped,
      # so URI refuses them.
      UNSAFE = /[^\x00-\x1f!#$%&'()*+,\-.\/0-9:;=?@A-Z\[\]_a-z~]/n
      private_constant :UNSAFE

      # Escapes them after the host, as browsers do.
      def self.escape(url)
        url = url.to_s.b.strip
        host = url[%r{\A(?:[a-z][a-z0-9+.-]*:)?//[^/?#]*}i].to_s
        (host + url[host.size..].gsub(UNSAFE) { |byte| format("%%%02X", byte.ord) }).force_encoding(Encoding::UTF_8)
      end

      # @return [URI::HTTP]
      # @raise [ArgumentError] the URL is invalid
      def self.parse(url)
        uri = url.is_a?(URI) ? url : URI.parse(escape(url))
        unless uri.is_a?(URI::HTTP) && uri.hostname && !uri.hostname.empty?
          raise ArgumentError, "#{shown(url).inspect} is not an http:// or https:// URL"
        end
        uri
      rescue URI::InvalidURIError # whose message has the whole text
        raise ArgumentError, "#{shown(url).inspect} is not a URL", cause: nil
      end

      # @return [String] a URL for messages and `inspect`: without a password and a query, which may contain secrets
      def self.shown(url) = url.to_s.sub(%r{//[^/?#]*@}, "//").sub(/[?#].*/m, "")

      attr_reader :method, :url, :headers, :body

      def initialize(method, url, base:, query:, defaults:, headers:, body:, json:, form:, basic_auth:, decode:,
        multipart: nil, expect: nil)
        @method = method.is_a?(Symbol) ? method.name.upcase : method
        raise ArgumentError, "#{method.inspect} is not an HTTP method" unless TOKEN.match?(@method)
        @url = with_query(self.class.parse(base ? join(base, url) : url), query)
        @headers = ((base && !same_origin?(base)) ? defaults.reject { |name,| SECRETS.include?(name) } : defaults).dup
        headers.each { |name, value| @headers[name.to_s.downcase] = value }
        authorize(basic_auth)
        @body, type = ClientBody.for(body, json, form, multipart)
        add_header("content-type", type)
        add_header("expect", "100-continue") if expect && @body && !@body.length&.<=(expect)
        add_header("accept-encoding", "gzip, deflate") if decode
        add_header("user-agent", "Pelton/#{VERSION}")
        add_header("accept", "*/*")
        check
      end

      def head? = @method == "HEAD"

      # Scheme, host and port: the requests to one origin share connections.
      def origin = [@url.scheme, @url.hostname, @url.port]

      def tls? = @url.is_a?(URI::HTTPS)

      # Whether the request may be sent again: a repetition does no harm, and the body can be read once more.
      def repeatable? = IDEMPOTENT.include?(@method) && (!@body || @body.repeatable?)

      # The same where the server is busy or cannot be reached. A key (Idempotency-Key) lets it know a repetition of any
      # request.
      def retriable? = (IDEMPOTENT.include?(@method) || !!@headers["idempotency-key"]) && (!@body || @body.repeatable?)

      # Whether the server is asked for its consent before the body is sent.
      def asks? = !!@body && !!@headers["expect"]

      # Whether the request offers another protocol.
      def upgrades? = !!@headers["upgrade"]

      # The same request with the cookies of a jar, unless the program wants none.
      #
      # @param jar [CookieJar]
      def with_cookies(jar)
        return self if @headers.key?("cookie") && @headers["cookie"].nil?
        dup.tap { |copy| copy.add_cookies(jar) }
      end

      # The same request without the question, for a server that refuses it.
      def unasked = dup.tap { |copy| copy.remove_question } # by a symbol, newer Rubies call only public methods

      # The same request with a body that can be read before it is sent.
      def buffered = (@body.nil? || @body.rereadable?) ? self : dup.tap { |copy| copy.buffer }

      # Adds method and URL to an error's message.
      #
      # @param error [Error]
      # @return [Error] of the same class
      def named(error) = error.exception("#{self}: #{error.message}")

      # @return [String] for messages: "GET http://example.com/"
      def to_s = "#{@method} #{self.class.shown(@url)}"

      # The bytes of the head.
      # @param absolute [Boolean] for a proxy, with the whole URL
      # @param extra [Hash] more headers
      def to_head(absolute: false, extra: {})
        target = absolute ? "#{@url.scheme}://#{authority}#{@url.request_uri}" : @url.request_uri
        head = "#{@method} #{target} HTTP/1.1\r\nhost: #{@headers["host"] || authority}\r\n".b
        @headers.except("host", *framing.keys).merge(extra, framing).each do |name, value|
          Array(value).each { |one| head << name << ": " << one.to_s.b << "\r\n" }
        end
        head << "\r\n"
      end

      # The request that follows a redirect; nil for other responses, and for redirects from https to http.
      #
      # @raise [RedirectError] the redirect cannot be followed
      def redirected(response)
        location = response.headers["location"]
        return unless [301, 302, 303, 307, 308].include?(response.status) && location.is_a?(String)
        url = self.class.parse(join(@url, location))
        return if tls? && !url.is_a?(URI::HTTPS)
        url.fragment ||= @url.fragment
        kept = keeps_method?(response.status)
        raise named(RedirectError.new("the body cannot be sent again")) if kept && @body && !@body.repeatable?
        dup.tap { |copy| copy.follow(url, kept) }
      rescue ArgumentError => error
        raise named(RedirectError.new(error.message))
      end

      protected

      def add_cookies(jar)
        header = jar._header(@url, @headers["cookie"])
        @headers = @headers.merge("cookie" => header) if header
      end

      def remove_question
        @headers = @headers.except("expect")
      end

      def buffer
        @body = @body.buffered
      end

      def follow(url, kept)
        previous = @url
        @url = url
        @headers = same_origin?(previous) ? @headers.dup : @headers.reject do |name,|
          SECRETS.include?(name) || name == "host"
        end
        authorize(nil)
        return if kept
        @method = "GET"
        @body = nil
        @headers = @headers.except("expect", "content-type", "content-encoding", "content-language", "content-location")
      end

      private

      # As RFC 9110, 15.4 allows and browsers do.
      def keeps_method?(status)
        case status
        when 301, 302 then @method != "POST"
        when 303 then @method == "GET" || head?
        else true
        end
      end

      # Adds a default, unless the caller has set the header, or removed it by nil.
      def add_header(name, value)
        @headers[name] = value unless value.nil? || @headers.key?(name)
      end

      def join(base, url)
        base.merge(url.is_a?(URI) ? url : self.class.escape(url))
      rescue URI::Error
        raise ArgumentError, "#{self.class.shown(url).inspect} is not a URL", cause: nil
      end

      def with_query(url, query)
        return url if query.nil? || query.empty?
        url.dup.tap { |with| with.query = [url.query, URI.encode_www_form(query)].compact.join("&") }
      end

      # The headers that frame the body.
      def framing
        return @body.framing if @body
        %w[POST PUT PATCH].include?(@method) ? {"content-length" => 0} : {}
      end

      def same_origin?(other) = origin == [other.scheme, other.hostname, other.port]

      def authority
        @authority = nil if @authority_of != @url
        @authority_of = @url
        @authority ||= (@url.port == @url.default_port) ? @url.host : "#{@url.host}:#{@url.port}"
      end

      def authorize(basic_auth)
        if @url.userinfo
          basic_auth ||= [@url.user, @url.password].map do |part|
            URI.decode_www_form_component(part.to_s.gsub("+", "%2B"))
          end
          @url = URI.parse(@url.to_s.sub("#{@url.userinfo}@", ""))
        end
        @headers["authorization"] = "Basic #{[basic_auth.join(":")].pack("m0")}" if basic_auth
      end

      # Refuses names and values that a server could take for another header or another request.
      def check
        @headers.each do |name, value|
          raise ArgumentError, "#{name.inspect} is not a header name" unless TOKEN.match?(name)
          raise ArgumentError, "the client sets #{name} itself" if %w[transfer-encoding content-length].include?(name)
          Array(value).each do |one|
            raise ArgumentError, "the value of #{name} contains a line end" if one.to_s.b.match?(/[\r\n\0]/n)
          end
        end
      end
    end
  end
end
