# frozen_string_literal: true

require_relative "../../pelton"
require_relative "client/cookie_jar"
require_relative "client/options"
require_relative "client/pool"
require_relative "client/request"
require_relative "client/retries"
require_relative "client/event_source"
require_relative "deadlines"

module Pelton
  public_constant :HTTP

  module HTTP
    # There were more redirects than allowed, or one could not be followed.
    class RedirectError < Error
    end

    # An HTTP client. All fibers of a thread share its connections, which stay open between requests. Other threads, and
    # a child after a fork, get connections of their own.
    #
    # Each request has three styles. Without a block it parks the fiber until the response has come, or blocks where no
    # reactor runs. With a block it returns a Deferrable at once, and the block gets the response later.
    # `client.later.get` returns the Deferrable alone.
    #
    # @example
    #   api = Pelton::HTTP::Client.new("https://api.example.com/v1/", headers: {"authorization" => "Bearer ..."})
    #   api.get("users", query: {page: 2}).json
    #   api.post("users", json: {name: "Ada"}) { |response| puts response.status }
    class Client
      # The options of each request and their defaults. Times are in seconds; nil is no limit.
      DEFAULTS = {
        timeout: nil,          # for the whole request: connections, redirects, retries and reading the body
        connect_timeout: 10,   # until there is a connection: name, TCP, proxy and TLS
        write_timeout: 30,     # during which the server accepts no bytes of the request
        response_timeout: 60,  # from the request's end to the response's head
        read_timeout: 30,      # between two pieces of the body
        expect_timeout: 1,     # for the server's consent to a large body; then the body is sent without it
        pool_timeout: 60,      # for a free connection, when all allowed connections are in use
        redirects: 5,          # the number of redirects that are followed
        # How often a request that may be sent twice is sent again: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and
        # others with a header Idempotency-Key; after a ConnectionError, and after 429 and 503
        retries: 0,
        # Inflated bytes that ClientResponse#body collects: beyond, LimitError; nil: no limit. Streaming has none
        max_body: 64 << 20,
        # Bytes of a body; before a larger one, or one of unknown size, the client asks (Expect: 100-continue). nil:
        # never
        expect: 1 << 20,
        stream: false,         # true: the response comes with its head, and ClientResponse#each reads the body
        decode: true           # whether to ask for gzip and inflate it
      }.freeze

      # @return [URI, nil] the base of relative URLs
      attr_reader :base

      # @return [CookieJar, nil]
      attr_reader :cookies

      # @param base [String, nil] the base of relative URLs
      # @param headers [Hash{String => String}] sent with each request. Credentials among them only go to the base's
      #   origin
      # @param concurrency [Integer] the most connections to one origin at a time, for each thread
      # @param keep_alive [Numeric] seconds after which an idle connection is closed
      # @param http2 [Boolean, :prior_knowledge] true: HTTP/2 where a server chooses it by TLS (ALPN);
      #   `:prior_knowledge`: also without TLS, by servers that are known to speak it; false: HTTP/1.1 alone. Without
      #   libnghttp2 it is false
      # @param tls [TLS::Context, Hash, nil] a Hash has the options of {TLS::Context#initialize}. Servers are verified
      #   unless it has `verify: false`
      # @param proxy [String, Symbol, nil] "http://user:password@host:port"; :environment: read http_proxy, https_proxy
      #   and no_proxy; nil: none
      # @param unix [String, nil] the path of a UNIX socket, for all connections
      # @param allow [:public, #call, nil] for URLs that others choose: `:public` refuses addresses of private networks
      #   and of this machine; a Proc gets each IPAddr of a name, and says whether to connect there. It needs
      #   `proxy: nil`
      # @param cookies [CookieJar, Boolean] which keeps the cookies that servers set, and sends them; true: one of its
      #   own
      # @param options see {DEFAULTS}
      # @raise [ArgumentError] an option is unknown, a value is of another kind, or a URL is invalid
      def initialize(base = nil, headers: {}, concurrency: 8, keep_alive: 60, http2: true, tls: nil,
        proxy: :environment, unix: nil, allow: nil, cookies: false, **options)
        ClientOptions.check({concurrency: concurrency, keep_alive: keep_alive, http2: http2, **options})
        @base = base && ClientRequest.parse(base)
        @headers = headers.transform_keys { |name| name.to_s.downcase }
        @options = DEFAULTS.merge(options)
        proxy = ClientConnector.proxy(proxy) if proxy.is_a?(String)
        @pool_settings = {concurrency: concurrency, keep_alive: keep_alive, tls: HTTP.tls_context(tls), proxy: proxy,
                          unix: unix, allow: allow, http2: HTTP.http2? && http2,
                          http2_tls: (HTTP.tls_context(tls, http2: true) if HTTP.http2? && http2)}
        @cookies = jar(cookies)
        @pools = {}.compare_by_identity
        @mutex = Mutex.new
      end

      # @!method get(url, **options, &block)
      #   Requests what is at the URL.
      #
      #   @example
      #     client.get("/users", query: {page: 2}).json
      #   @param url [String, URI::HTTP] absolute, or relative to the base
      #   @param options [Hash] all of {#request}
      #   @return [ClientResponse, Operation] with a block the Deferrable, which calls the block with the response
      #   @raise (see #request)
      #   @asynchronous
      # @!method head(url, **options, &block)
      #   Requests the headers of what is at the URL.
      #
      #   @example
      #     client.head("/report.pdf").headers["content-length"]
      #   @param url [String, URI::HTTP] absolute, or relative to the base
      #   @param options [Hash] all of {#request}
      #   @return [ClientResponse, Operation] with a block the Deferrable, which calls the block with the response
      #   @raise (see #request)
      #   @asynchronous
      # @!method post(url, **options, &block)
      #   Posts a body.
      #
      #   @example
      #     client.post("/users", json: {name: "Ann"})
      #   @param url [String, URI::HTTP] absolute, or relative to the base
      #   @param options [Hash] `json:`, `form:`, `body:` and all others of {#request}
      #   @return [ClientResponse, Operation] with a block the Deferrable, which calls the block with the response
      #   @raise (see #request)
      #   @asynchronous
      # @!method put(url, **options, &block)
      #   Replaces what is at the URL by a body.
      #
      #   @example
      #     client.put("/files/a", body: File.open("a"))
      #   @param url [String, URI::HTTP] absolute, or relative to the base
      #   @param options [Hash] `json:`, `form:`, `body:` and all others of {#request}
      #   @return [ClientResponse, Operation] with a block the Deferrable, which calls the block with the response
      #   @raise (see #request)
      #   @asynchronous
      # @!method patch(url, **options, &block)
      #   Changes what is at the URL.
      #
      #   @example
      #     client.patch("/users/1", json: {name: "Ann"})
      #   @param url [String, URI::HTTP] absolute, or relative to the base
      #   @param options [Hash] `json:`, `form:`, `body:` and all others of {#request}
      #   @return [ClientResponse, Operation] with a block the Deferrable, which calls the block with the response
      #   @raise (see #request)
      #   @asynchronous
      # @!method delete(url, **options, &block)
      #   Deletes what is at the URL.
      #
      #   @example
      #     client.delete("/users/1")
      #   @param url [String, URI::HTTP] absolute, or relative to the base
      #   @param options [Hash] all of {#request}
      #   @return [ClientResponse, Operation] with a block the Deferrable, which calls the block with the response
      #   @raise (see #request)
      #   @asynchronous
      # @!method options(url, **options, &block)
      #   Asks what may be done with the URL.
      #
      #   @example
      #     client.options("/users").headers["allow"]
      #   @param url [String, URI::HTTP] absolute, or relative to the base
      #   @param options [Hash] all of {#request}
      #   @return [ClientResponse, Operation] with a block the Deferrable, which calls the block with the response
      #   @raise (see #request)
      #   @asynchronous
      VERBS = %i[get head post put patch delete options].freeze
      VERBS.each do |name|
        verb = name.to_s.upcase
        define_method(name) { |url, **options, &block| request(verb, url, **options, &block) }
      end

      # Sends a request.
      #
      # @param method [String, Symbol] "GET" or :get
      # @param url [String] absolute, or relative to the base
      # @param query [Hash, nil] added to the URL
      # @param headers [Hash{String => String, nil}] nil removes a default header
      # @param body [String, #read, #each, nil] an IO or an enumerable is sent piece by piece
      # @param json [Object] sent as JSON instead
      # @param form [Hash, nil] sent as an HTML form instead; with a value that responds to `read` as multipart
      # @param multipart [Hash, nil] sent as multipart/form-data instead: see {Multipart}
      # @param basic_auth [Array(String, String), nil] name and password. The URL may have them instead
      # @param options see {DEFAULTS}
      # @return [ClientResponse, Operation] with a block the Deferrable. A response of any status is no error
      # @raise [TimeoutError, ConnectionError, ResolutionError, TLSError]
      # @raise [ProtocolError] the response is not HTTP
      # @raise [LimitError] the body is larger than `max_body`
      # @raise [RedirectError]
      # @raise [ArgumentError] a URL, header, method or option that cannot be used
      # @asynchronous
      def request(method, url, query: nil, headers: {}, body: nil, json: ClientRequest::NONE, form: nil, multipart: nil,
        basic_auth: nil, **options, &block)
        ClientOptions.check(options, DEFAULTS.keys) unless options.empty?
        settings = @options.merge(options)
        request = ClientRequest.new(method, url, base: @base, query: query, defaults: @headers, headers: headers,
          body: body, json: json, form: form,
          multipart: multipart, basic_auth: basic_auth, decode: settings[:decode], expect: settings[:expect])
        return Deferrable.defer(block) { perform(request, settings) } if block
        perform(request, settings)
      end

      # Follows a stream of server-sent events, until the block breaks or the server says that there is no more (204).
      # When a connection ends, or the server answers 429, 500 or 502 to 504, the client comes back after the time that
      # the server has asked for, at first 3 s, and says which event was the last one; after failures in a row it waits
      # longer.
      #
      # @param url [String] absolute, or relative to the base
      # @param last_event_id [String, nil] where an earlier client was
      # @param max_event [Integer] bytes of an event
      # @param headers [Hash{String => String, nil}]
      # @param options see {DEFAULTS}; `read_timeout` is the longest silence
      # @yieldparam event [Event]
      # @return [nil]
      # @raise [ProtocolError] what the server sends is no stream of events
      # @raise [LimitError] an event is larger than `max_event`
      # @raise [TLSError, ArgumentError]
      # @asynchronous
      def each_event(url, last_event_id: nil, max_event: 1 << 20, headers: {}, **options, &block)
        raise ArgumentError, "each_event needs a block" unless block
        EventSource.new(self, url, last_event_id: last_event_id, max_event: max_event, headers: headers,
          **options).each(&block)
      end

      # The same methods, each returning its Deferrable.
      #
      # @return [Later]
      def later = Later.new(self)

      # Closes the idle connections of this thread. Connections in use are closed after their response.
      #
      # @return [nil]
      def close = @pools[Reactor.current]&.close

      # @return [Hash{Symbol => Integer}] this thread's connections: `open` ones, and those of them that are `idle`
      def stats = pool.stats

      def inspect = "#<#{self.class.name}#{" #{@base.hostname}" if @base}>" # headers and URLs may contain credentials

      # A client's methods, each returning its Deferrable.
      class Later
        # @private
        def initialize(client) = @client = client

        (VERBS + [:request]).each do |name|
          define_method(name) do |*arguments, **options|
            Deferrable.defer(nil) { @client.public_send(name, *arguments, **options) }
          end
        end
      end

      private

      def perform(request, settings)
        deadlines = Deadlines.new(settings)
        return perform_once(request, deadlines, settings) unless settings[:retries].positive?
        ClientRetries.new(request, deadlines, settings[:retries]).call { perform_once(request, deadlines, settings) }
      end

      def perform_once(request, deadlines, settings)
        followed = 0
        response = observed_exchange(request, deadlines, settings)
        # No `loop`, which would rescue a StopIteration of the request's body.
        while settings[:redirects].positive? && (following = following(request, response, settings[:redirects],
          followed))
          followed += 1
          response.discard
          response = observed_exchange(request = following, deadlines, settings)
        end
        (settings[:stream] || response.status == 101) ? response.watched(pool) : response.tap(&:body)
      end

      def observed_exchange(request, deadlines, settings)
        request = request.with_cookies(@cookies) if @cookies
        payload = {request: request}
        response = Notifications.instrument("request.http_client", payload) do
          payload[:response] = exchange(request, deadlines, settings)
        end
        @cookies&.store(request.url, response.headers["set-cookie"])
        response
      end

      def following(request, response, limit, followed)
        request.redirected(response).tap do |one|
          raise request.named(RedirectError.new("more than #{limit} redirects")) if one && followed == limit
        end
      rescue RedirectError
        response.discard
        raise
      end

      # The server may just have closed a connection that was idle. Then the client sends the request again on a new
      # one, if that is safe.
      def exchange(request, deadlines, settings)
        attempt = 0
        begin
          connection = pool.take(request, deadlines, fresh: attempt.positive?)
          response = connection.exchange(request, deadlines, settings)
          return response unless response.status == 417 && request.asks? && request.body.repeatable?
          response.discard
          exchange(request.unasked, deadlines, settings)
        rescue ConnectionError, EOFError => error
          raise error(request, error) unless connection&.repeats?(request, attempt)
          attempt += 1
          connection = nil
          retry
        rescue Integrations::Arrival
          exchange(request, deadlines, settings) # which the library's integration may have changed
        end
      end

      def error(request, error)
        return error unless error.is_a?(EOFError)
        ConnectionError.new("#{request}: the server closed the connection without a response")
      end

      # @return [CookieJar, nil]
      # @raise [ArgumentError]
      def jar(cookies)
        case cookies
        when true then CookieJar.new
        when false, nil then nil
        when CookieJar then cookies
        else raise ArgumentError, "cookies: must be true, false or a Pelton::HTTP::CookieJar, not #{cookies.inspect}"
        end
      end

      # The pool of this thread's reactor. A child process after a fork has another reactor.
      def pool
        reactor = Reactor.current
        @pools[reactor] || @mutex.synchronize do
          @pools.delete_if { |_, pool| !pool.alive? }
          @pools[reactor] ||= ClientPool.new(**@pool_settings)
        end
      end
    end

    class << self
      # @return [Client] the client that {HTTP.get}, {HTTP.post} and so on use
      def client = @client ||= Client.new

      # @!method get(url, **options)
      #   Sends a request by a client that all share: see {Client#request}.
      #   @asynchronous
      # @!method head(url, **options)
      #   As {get}.
      #   @asynchronous
      # @!method post(url, **options)
      #   As {get}.
      #   @asynchronous
      # @!method put(url, **options)
      #   As {get}.
      #   @asynchronous
      # @!method patch(url, **options)
      #   As {get}.
      #   @asynchronous
      # @!method delete(url, **options)
      #   As {get}.
      #   @asynchronous
      # @!method options(url, **options)
      #   As {get}.
      #   @asynchronous
      # @!method request(method, url, **options)
      #   As {get}.
      #   @asynchronous
      (Client::VERBS + [:request]).each do |name|
        define_method(name) { |*arguments, **options, &block| client.public_send(name, *arguments, **options, &block) }
      end

      # @return [Client::Later]
      def later = client.later
    end

    Integrations.load(:client)
  end
end
