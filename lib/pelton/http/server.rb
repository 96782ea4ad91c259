# frozen_string_literal: true

module Pelton
  module HTTP
    # Serves a Rack application on the reactor of this thread. The application is called on the fiber that runs the loop. If
    # it waits, only its own connection waits.
    #
    # @example
    #   Pelton.run do
    #     server = Pelton::HTTP::Server.new(->(env) { [200, {}, ["hello\n"]] })
    #     server.listen("tcp://127.0.0.1:9292")
    #   end
    class Server
      # Limits: of time in seconds, of size in bytes. nil is no limit.
      DEFAULTS = {
        header_timeout: 30,    # from the beginning of a connection, or the first byte of a request, to the end of its head; and
        #                        between two pieces of its body
        body_rate: 500,        # average bytes a second of a body that was waited for longer than header_timeout in all: below, it
        #                        is late. A body that is read while the response is sent has no such limit
        idle_timeout: 75,      # between two requests
        request_timeout: nil,  # from the head of a request to the beginning of its response: beyond, 504
        write_timeout: 60,     # during which the client reads no byte of the response
        max_target: 8192,      # bytes of the request's target: beyond, 414
        max_head: 65_536,      # bytes of the request line and the headers: beyond, 431
        max_headers: 100,      # headers, 256 at most: beyond, 431
        max_body: nil,         # bytes of the request's body: beyond, 413
        spool: nil,            # bytes of a body in memory: the whole body is received before the application is called, a longer
        #                        one into a file; nil: it is received while the application reads, but Rack before 3 wants it whole: 131,072
        max_requests: nil,     # requests of one connection: then it is closed
        max_streams: 100,      # requests at once of one connection of HTTP/2: beyond, the connection ends; 0: HTTP/1.1 alone
        stream_window: 131_072, # bytes of a request's body that a client of HTTP/2 may send ahead of the application
        max_resets: 1000,      # requests that a client of HTTP/2 may cancel, or have refused as malformed, at once, and again within
        #                        30 seconds: beyond, its connection ends
        max_control_frames: 1000, # likewise of frames that only cost work: PING, SETTINGS, PRIORITY, CONTINUATION, empty DATA
        limit: 10_000,         # requests that run at once
        queue: 10_000,         # requests that wait to run: beyond, 503
        cache: nil             # bytes for responses that are public and fresh, which are answered without calling the application:
        #                        see the guide to the server
      }.freeze

      MOST_HEADERS = 256 # the parser's capacity
      MOST_WINDOW = 2**31 - 1 # of HTTP/2
      RACK_2_SPOOL = 131_072
      private_constant :MOST_HEADERS, :MOST_WINDOW, :RACK_2_SPOOL

      # Whether the Rack that the program has loaded is older than 3: its requests rewind the body.
      # @private
      def self._rack_2? = !!defined?(::Rack) && ::Rack.respond_to?(:release) && ::Rack.release.to_i < 3

      # @return [#call] the Rack application
      attr_reader :app

      # @param app [#call] the Rack application
      # @param log [#call, nil] is called with the events `request.http_server` and `refusal.http_server` of this server alone ({Notifications}): see
      #   {CommonLog} and {JSONLog}
      # @param errors [#puts, #write, #flush] `rack.errors`
      # @param secure [Boolean] whether `rack.url_scheme` is https for connections without TLS, too: behind a proxy with TLS
      # @param early_hints [Boolean] whether requests have `rack.early_hints`. Rails then sends 103 Early Hints with each stylesheet, which
      #   some proxies and clients take for the response
      # @param options [Hash] see {DEFAULTS}
      # @raise [ArgumentError] an option is unknown or invalid
      def initialize(app, log: nil, errors: $stderr, secure: false, early_hints: false, **options)
        raise ArgumentError, "the application must respond to call" unless app.respond_to?(:call)
        unknown = options.keys - DEFAULTS.keys
        raise ArgumentError, "unknown option#{"s" if unknown.size > 1}: #{unknown.join(", ")}" if unknown.any?
        name, value = options.find { |_, value| !(value.nil? || value.is_a?(Numeric) && value >= 0) }
        raise ArgumentError, "#{name}: must be a number of 0 or more, not #{value.inspect}" if name
        raise ArgumentError, "max_headers: #{MOST_HEADERS} at most" if options[:max_headers].to_i > MOST_HEADERS
        raise ArgumentError, "stream_window: 1 to #{MOST_WINDOW}" if options.key?(:stream_window) && !options[:stream_window].to_i.between?(1, MOST_WINDOW)
        Integrations.load(:server)
        load_ahead
        @app = app
        @http2 = HTTP.http2? && options[:max_streams] != 0
        @listeners = []
        @shared = []
        @sockets = {}
        @refusals = RefusalLog.new
        @log = log
        memory = options[:spool] || (RACK_2_SPOOL if Server._rack_2?)
        app = Rack2.new(app) if Server._rack_2?
        app = Asterisk.new(app) if Asterisk.needed?
        app = Spool.new(app, memory: memory) if memory
        app = log.measuring(app) if log.respond_to?(:measuring)
        _setup(app, log, HTTP._template(template(errors, secure, early_hints)), DEFAULTS.merge(options, secure: secure))
      end

      # Listens on an address. May be called several times. An open listener keeps {Pelton.run} going.
      #
      # @param address [String] tcp://host:port (port 0: any free port), unix:///path, or ssl://host:port
      # @param options [Hash] see {Pelton.listen}; ssl:// needs `tls:`, whose `alpn:` is h2 and http/1.1 by default
      # @return [Listener]
      # @raise [ArgumentError] the address is invalid (see {Address}), or `tls:` is missing
      # @raise [ConnectionError] the address is in use, or is not this machine's
      # @raise [NotRunningError] where no reactor runs on this thread
      def listen(address, **options)
        parsed = Address.new(address)
        raise ArgumentError, "#{address}: give tls: {certificate: ..., key: ...}" if parsed.tls? && !options[:tls]
        Reactor._running("Server#listen")
        options[:tls] = HTTP._tls(options[:tls], http2: @http2) if options[:tls]
        listener =
          if parsed.path
            Pelton.listen_unix(parsed.path, **options) { |stream| serve(stream) }
          else
            Pelton.listen(parsed.host, parsed.port, **options) { |stream| serve(stream) }
          end
        add(listener)
      end

      # Listens on an inherited descriptor.
      #
      # @param descriptor [Integer] a listening socket, which is closed with the server
      # @param shared [Boolean] whether other processes accept from the socket, too
      # @param tls [TLS::Context, Hash, nil] TLS for each connection
      # @return [Listener]
      # @raise [NotRunningError] where no reactor runs on this thread
      def listen_fd(descriptor, shared: false, tls: nil)
        Reactor._running("Server#listen_fd")
        listener = Listener.for_fd(descriptor, shared: shared, tls: HTTP._tls(tls, http2: @http2)) { |stream| serve(stream) }
        @shared << listener if shared
        add(listener)
      end

      # @return [Array<Listener>] the open listeners
      def listeners = @listeners.reject(&:closed?)

      # @return [Hash{Symbol => Integer, Hash}] current numbers: `connections`, and those of them that are `idle`; requests that
      #   are `running`, requests that are `waiting` to run, and both together as `active`. Counters: `accepted` connections, `failed_handshakes` of TLS,
      #   `requests`, `refused` (malformed or late) ones, `overloads` (503) and `errors` (500); `responses` by class ("2xx"); `durations`
      #   from a head to the end of its response, by method, status and, where the application has named it, route ("GET 200
      #   /posts/:id"): the number of requests within so many seconds ("0.1"; "+Inf": all), and their
      #   "sum" in seconds. Of HTTP/2: `http2_connections`, `http2_streams` (requests), `http2_resets` (those that their client cancelled
      #   while they were answered) and `http2_floods` (connections ended for it). The status is 0 where the client left before the response. With a cache: `cache_hits` and
      #   `cache_misses` of the requests that may be answered from it, and the `cache_bytes` of its responses
      def stats = _stats.merge!(failed_handshakes: @listeners.sum(&:failed_handshakes), durations: durations)

      # The requests that are being answered, or wait to run, in any order. Any thread may call it.
      #
      # @return [Array<Hash{Symbol => Object}>] `name`, such as "GET /path", without the query, which may contain secrets; `age`, the seconds
      #   since its head was complete; `state`: :queued, :running, or :sending once the response has begun, as those of WebSockets have; and
      #   the `fiber` that runs the application, nil when it has returned
      # @private
      def _running_requests
        _requests.map do |env, age, fiber, state|
          name = "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}".force_encoding(Encoding::UTF_8).scrub
          {name: name, age: age, state: state, fiber: fiber}
        end
      end

      # @!method serve(stream)
      #   Serves the requests of a connection that was accepted, and given TLS, elsewhere. Returns at once.
      #   @param stream [Stream] belongs to the server from now on
      #   @return [nil]
      #   @raise [NotRunningError] where no reactor runs on this thread

      # @return [Hash{WebSocket => true}] the open sockets that {WebSocket.accept} has made of this server's requests, and others with
      #   `close(code, reason)`, which {#stop} calls once
      # @private
      attr_reader :sockets

      # Stops: accepts no more connections, closes idle ones, and waits for the requests in progress. Each response is the last
      # one of its connection. A connection that was accepted is served, even if its first request or its TLS handshake is
      # yet to come. Each {WebSocket} is closed with code 1001, and event streams end, so their clients connect again.
      #
      # @param timeout [Numeric, nil] seconds; connections that are still open then stay open
      # @param backlog [Boolean] whether to serve connections that wait to be accepted on shared sockets, because no other
      #   process will. On sockets that this server does not share they are always served
      # @return [Boolean] whether all connections are closed
      # @asynchronous
      def stop(timeout: 30, backlog: false)
        deadline = timeout && Clock.now + timeout
        listeners.each { |listener| (backlog || !@shared.include?(listener)) ? listener.finish : listener.close }
        _drain
        told = {}.compare_by_identity
        loop do
          end_streams(told)
          return true if closed?
          return false if deadline && Clock.left(deadline).zero?
          sleep 0.01
        end
      end

      # A connection sent no request that could be understood, or not in time. The address is empty when the client is gone.
      # @private
      def _refused(address, status, text)
        refused(address, status, text)
        @refusals.add { "HTTP: #{status || "no response"} to #{address.empty? ? "a client" : address}: #{text}" }
      end

      # Many connections are busy at once.
      # @private
      def _peaked
        memory = IdleMemory.new(-> { _stats.then { |stats| stats[:connections] - stats[:idle] } }, -> { _trim })
        Pelton.spawn(name: "memory after a peak", transient: true) do
          memory.release_after_peak
          sleep IdleMemory::PAUSE
        ensure
          _peak_over
        end
      end

      private

      # Several objects may stand for one route, such as those of an application that was reloaded.
      def durations
        _durations.each_with_object({}) do |(verb, status, route, counts), all|
          all.update([verb, status, route].compact.join(" ") => counts) { |_, one, other| one.merge(other) { |_, mine, more| mine + more } }
        end
      end

      def refused(address, status, reason)
        Notifications::Event.new("refusal.http_server", {address: address, status: status, reason: reason, server: self}, Notifications.for("refusal.http_server")).finish(nil, 0.0, also: @log)
      end

      def add(listener)
        listener._on_failed_handshake do |address, error|
          refused(address, nil, error.message)
          @refusals.add { "HTTP: no TLS with #{address || "a client"}: #{error.message}" }
        end
        @listeners << listener
        listener
      end

      # The first stall would load the logger inside the loop, and the first handshake the gem for WebSockets, if it is there.
      def load_ahead
        Watchdog._quietly do
          Pelton.logger
          WebSocket
        end
      rescue LoadError
        nil # whoever uses a WebSocket is told
      end

      # Ends event streams, and closes the sockets that were not told yet: new ones may have begun since the last call. The sockets are
      # copied, because a thread of Action Cable may add one meanwhile.
      def end_streams(told)
        _end_events
        @sockets.keys.each do |socket|
          next if told[socket]
          told[socket] = true
          Pelton.spawn(detached: true) { socket.close(1001, "the server stops") }
        end
      end

      def closed? = @sockets.empty? && @listeners.sum(&:pending).zero? && _stats[:connections].zero?

      def template(errors, secure, early_hints)
        template = {
          "SCRIPT_NAME" => "",
          "QUERY_STRING" => "",
          "SERVER_NAME" => "localhost",
          "SERVER_PORT" => secure ? "443" : "80",
          "SERVER_SOFTWARE" => "Pelton/#{VERSION}",
          "rack.url_scheme" => secure ? "https" : "http",
          "rack.errors" => errors,
          "rack.input" => EMPTY_INPUT,
          "rack.hijack?" => true
        }
        # Rack before 3 requires these. Requests take turns on one thread, but interleave like those of several.
        template.update("rack.version" => [1, 3], "rack.multithread" => true, "rack.multiprocess" => true, "rack.run_once" => false) if Server._rack_2?
        template["rack.early_hints"] = true if early_hints # each request puts its exchange there
        template
      end

      Pelton._upcalls(request_refused: instance_method(:_refused), many_busy: instance_method(:_peaked))
    end
  end
end
