# frozen_string_literal: true

require_relative "settings"

module Pelton
  module HTTP
    # Serves a Rack application on the reactor of this thread. The application is called on the fiber that runs the
    # loop. If it waits, only its own connection waits.
    #
    # @example
    #   Pelton.run do
    #     server = Pelton::HTTP::Server.new(->(env) { [200, {}, ["hello\n"]] })
    #     server.listen("tcp://127.0.0.1:9292")
    #   end
    class Server
      # The options and their defaults, as `docs/reference/settings.md` describes them: of time in seconds, of size in
      # bytes. nil is no limit.
      DEFAULTS =
        SETTINGS.select { |setting| setting.taken_by == :server }
          .to_h { |setting| [setting.name, setting.default] }.freeze
      OPTIONS = SETTINGS.to_h { |setting| [setting.name, setting] }.slice(*DEFAULTS.keys).freeze
      private_constant :OPTIONS

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
      # @param log [#call, nil] is called with the events `request.http_server` and `refusal.http_server` of this server
      #   alone ({Notifications}): see {CommonLog} and {JSONLog}
      # @param errors [#puts, #write, #flush] `rack.errors`
      # @param options [Hash] see {DEFAULTS}. Sizes may be text with a unit: "64M"
      # @raise [ArgumentError] an option is unknown or invalid
      def initialize(app, log: nil, errors: $stderr, **options)
        raise ArgumentError, "the application must respond to call" unless app.respond_to?(:call)
        unknown = options.keys - DEFAULTS.keys
        raise ArgumentError, "unknown option#{"s" if unknown.size > 1}: #{unknown.join(", ")}" if unknown.any?
        settings =
          DEFAULTS.merge(OPTIONS.slice(*options.keys).to_h { |name, option| [name, option.convert(options[name])] })
        raise ArgumentError, "max_headers: #{MOST_HEADERS} at most" if settings[:max_headers].to_i > MOST_HEADERS
        unless settings[:stream_window].to_i.between?(1, MOST_WINDOW)
          raise ArgumentError, "stream_window: 1 to #{MOST_WINDOW}"
        end
        settings[:public] &&= File.expand_path(settings[:public])
        Integrations.load(:server)
        load_ahead
        @app = app
        @http2 = HTTP.http2? && settings[:max_streams] != 0
        @listeners = []
        @shared = []
        @drain = Drain.new { closed? }
        @attachments = Attachments.new { @drain.changed }
        @refusals = RefusalLog.new
        @log = log
        memory = settings[:spool] || (RACK_2_SPOOL if Server._rack_2?)
        if settings[:x_sendfile]&.any? || settings[:x_accel]&.any?
          app = SendFile.new(app, folders: settings[:x_sendfile].to_a, map: settings[:x_accel].to_h)
        end
        app = Compression.new(app, level: settings[:gzip_level], cookies: settings[:gzip_cookies]) if settings[:gzip]
        app = Rack2.new(app) if Server._rack_2?
        app = Asterisk.new(app) if Asterisk.needed?
        app = Spool.new(app, memory: memory) if memory
        app = log.measuring(app) if log.respond_to?(:measuring)
        _setup(app, log, HTTP._template(template(errors, settings[:secure], settings[:early_hints])), settings)
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
        Reactor.require_running("Server#listen")
        options[:tls] = HTTP.tls_context(options[:tls], http2: @http2) if options[:tls]
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
        Reactor.require_running("Server#listen_fd")
        listener = Listener.for_fd(descriptor, shared: shared,
          tls: HTTP.tls_context(tls, http2: @http2)) { |stream| serve(stream) }
        @shared << listener if shared
        add(listener)
      end

      # @return [Array<Listener>] the open listeners
      def listeners = @listeners.reject(&:closed?)

      # @return [Hash{Symbol => Integer, Hash}] current numbers: `connections`, and those of them that are `idle`;
      #   requests that are `running`, requests that are `waiting` to run, and both together as `active`. Counters:
      #   `accepted` connections, `failed_handshakes` of TLS, `requests`, `refused` (malformed or late) ones,
      #   `overloads` (503) and `errors` (500); `responses` by class ("2xx"); `durations` from a head to the end of its
      #   response, by method, status and, where the application has named it, route ("GET 200 /posts/:id"): the number
      #   of requests within so many seconds ("0.1"; "+Inf": all), and their "sum" in seconds. Of HTTP/2:
      #   `http2_connections`, `http2_streams` (requests), `http2_resets` (those that their client cancelled while they
      #   were answered) and `http2_floods` (connections ended for it). The status is 0 where the client left before the
      #   response. With a cache: `cache_hits` and `cache_misses` of the requests that may be answered from it;
      #   `cache_stale`, those answered by an expired response; `cache_waits`, the misses that waited for the response
      #   to another; the `cache_bytes` of its responses; and `cache_purged`, how many of them {#purge} has removed
      def stats = _stats.merge!(failed_handshakes: @listeners.sum(&:failed_handshakes), durations: durations)

      # Removes responses from this process's cache; those that are being made are not kept. It takes about a
      # millisecond for 10,000 responses. Any thread may call it.
      #
      # @param path [String] a path, "/posts/1": with any query; a path with a query: exactly it; or what ends with "*":
      #   whatever begins so, "/posts/*"; "/*" is everything. The bytes are compared as clients have sent them. Any
      #   host, scheme and headers
      # @return [Integer] how many there were; 0 without a cache
      # @raise [ArgumentError] the path does not begin with "/"
      def purge(path)
        raise ArgumentError, "purge: #{path.inspect} is no path: begin it with \"/\"" unless path.start_with?("/")
        _purge(path) || 0
      end

      # The requests that are being answered, or wait to run, in any order. Any thread may call it.
      #
      # @return [Array<Hash{Symbol => Object}>] `name`, such as "GET /path", without the query, which may contain
      #   secrets; `age`, the seconds since its head was complete; `state`: :queued, :running, or :sending once the
      #   response has begun, as those of WebSockets have; and the `fiber` that runs the application, nil when it has
      #   returned
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

      # Lets {#stop} close a socket that was made of a request, and wait until it has ended. Each {WebSocket} is
      # attached. Any thread may call it.
      #
      # @param closable [#close] {#stop} calls `close(code, reason)` once, in a task
      # @return [Attachment] call its `detach` when the socket has ended
      def attach(closable) = @attachments.attach(closable)

      # @return [Integer] sockets that are attached: open WebSockets, and others
      def attached = @attachments.size

      # Stops: accepts no more connections, closes idle ones, and waits for the requests in progress. Each response is
      # the last one of its connection. A connection that was accepted is served, even if its first request or its TLS
      # handshake is yet to come. Each {WebSocket} is closed with code 1001, and event streams end, so their clients
      # connect again.
      #
      # @param timeout [Numeric, nil] seconds; connections that are still open then stay open
      # @param backlog [Boolean] whether to serve connections that wait to be accepted on shared sockets, because no
      #   other process will. On sockets that this server does not share they are always served
      # @return [Boolean] whether all connections are closed
      # @asynchronous
      def stop(timeout: 30, backlog: false)
        listeners.each { |listener| (backlog || !@shared.include?(listener)) ? listener.finish : listener.close }
        _drain(-> { @drain.changed })
        @drain.wait(timeout) { end_streams }
      end

      # A connection sent no request that could be understood, or not in time. The address is empty when the client is
      # gone.
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
          all.update([verb, status, route].compact.join(" ") => counts) do |_, one, other|
            one.merge(other) { |_, mine, more| mine + more }
          end
        end
      end

      def refused(address, status, reason)
        Notifications::Event.new("refusal.http_server",
          {address: address, status: status, reason: reason, server: self},
          Notifications.for("refusal.http_server")).finish(nil, 0.0, also: @log)
      end

      def add(listener)
        listener.on_failed_handshake do |address, error|
          refused(address, nil, error.message)
          @drain.changed
          @refusals.add { "HTTP: no TLS with #{address || "a client"}: #{error.message}" }
        end
        @listeners << listener
        listener
      end

      # Loads the logger and the WebSocket gem now, not inside the loop.
      def load_ahead
        Watchdog.quietly do
          Pelton.logger
          WebSocket
        end
      rescue LoadError
        nil # whoever uses a WebSocket is told
      end

      # Ends event streams and sockets: new ones may have begun since the last call.
      def end_streams
        _end_events
        @attachments.close(1001, "the server stops")
      end

      def closed? = @attachments.empty? && @listeners.sum(&:pending).zero? && _stats[:connections].zero?

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
        if Server._rack_2?
          template.update("rack.version" => [1, 3], "rack.multithread" => true,
            "rack.multiprocess" => true, "rack.run_once" => false)
        end
        template["rack.early_hints"] = true if early_hints # each request puts its exchange there
        template
      end

      Pelton.register_upcalls(request_refused: instance_method(:_refused), many_busy: instance_method(:_peaked))
    end
  end
end
