# frozen_string_literal: true

module Pelton
  module HTTP
    # Serves a Rack application on the reactor of this thread. The application is called on the fiber that turns the loop;
    # if it waits, it holds up its own connection alone.
    #
    # @example
    #   Pelton.run do
    #     server = Pelton::HTTP::Server.new(->(env) { [200, {}, ["hello\n"]] })
    #     server.listen("tcp://127.0.0.1:9292")
    #   end
    class Server
      # Limits: of time in seconds, of size in bytes; nil is no limit.
      DEFAULTS = {
        header_timeout: 30,    # from a connection's beginning, or a request's first byte, to the end of its head; and
        #                        between two pieces of its body
        body_rate: 500,        # bytes a second, averaged, that a body must come at when it was waited for so long in all: else
        #                        it is late. Not for one that is read while it is answered
        idle_timeout: 75,      # between two requests
        request_timeout: nil,  # from a head to its response's beginning: then 504
        write_timeout: 60,     # without the client reading any of what is to be sent
        max_target: 8192,      # bytes of the request's target: else 414
        max_head: 65_536,      # bytes of the request line and the headers: else 431
        max_headers: 100,      # headers, 256 at most: else 431
        max_body: nil,         # bytes of the request's body: else 413
        spool: nil,            # bytes of a body in memory: then it is received as a whole, beyond that into a file, before the
        #                        application is called; nil: the application receives it while it reads
        max_requests: nil,     # of one connection: then it is closed
        concurrency: 10_000,   # requests that run at once
        queue: 10_000          # requests that wait for a place to run: beyond it 503
      }.freeze

      MOST_HEADERS = 256 # which the parser has room for
      private_constant :MOST_HEADERS

      # @return [#call] the Rack application
      attr_reader :app

      # @param app [#call] the Rack application
      # @param log [#call, nil] is called with env, status, bytes and seconds of each request: see {CommonLog}
      # @param errors [#puts, #write, #flush] `rack.errors`
      # @param secure [Boolean] whether `rack.url_scheme` is https for connections without TLS, too: behind a proxy that has it
      # @param options [Hash] see {DEFAULTS}
      # @raise [ArgumentError] for an option that is not known, or not valid
      def initialize(app, log: nil, errors: $stderr, secure: false, **options)
        raise ArgumentError, "the application must respond to call" unless app.respond_to?(:call)
        unknown = options.keys - DEFAULTS.keys
        raise ArgumentError, "unknown option#{"s" if unknown.size > 1}: #{unknown.join(", ")}" if unknown.any?
        name, value = options.find { |_, value| !(value.nil? || value.is_a?(Numeric) && value >= 0) }
        raise ArgumentError, "#{name}: #{value.inspect} is no number of 0 or more" if name
        raise ArgumentError, "max_headers: #{MOST_HEADERS} at most" if options[:max_headers].to_i > MOST_HEADERS
        Sinatra.install
        @app = app
        @listeners = []
        @shared = []
        @sockets = {}
        app = Spool.new(app, memory: options[:spool]) if options[:spool]
        _setup(app, log, HTTP._template(template(errors, secure)), DEFAULTS.merge(options, secure: secure))
      end

      # Listens on an address. May be called several times. An open listener keeps {Pelton.run} going.
      #
      # @param address [String] tcp://host:port (port 0: any free one), unix:///path, or ssl://host:port
      # @param options [Hash] see {Pelton.listen}; ssl:// needs `tls:`, whose `alpn:` is http/1.1 unless it says otherwise
      # @return [Listener]
      # @raise [ArgumentError] the address cannot be read; see {Address}
      # @raise [ConnectionError] when the address is in use or not ours
      def listen(address, **options)
        place = Address.new(address)
        raise ArgumentError, "#{address}: give tls: {certificate: ..., key: ...}" if place.tls? && !options[:tls]
        options[:tls] = HTTP._tls(options[:tls]) if options[:tls]
        listener =
          if place.path
            Pelton.listen_unix(place.path, **options) { |stream| serve(stream) }
          else
            Pelton.listen(place.host, place.port, **options) { |stream| serve(stream) }
          end
        @listeners << listener
        listener
      end

      # Listens on a descriptor that was inherited.
      #
      # @param descriptor [Integer] of a listening socket, which is closed with the server
      # @param shared [Boolean] whether other processes accept from it, too
      # @param tls [TLS::Context, Hash, nil] has each connection speak TLS
      # @return [Listener]
      def listen_fd(descriptor, shared: false, tls: nil)
        listener = Listener.for_fd(descriptor, shared: shared, tls: HTTP._tls(tls)) { |stream| serve(stream) }
        @shared << listener if shared
        @listeners << listener
        listener
      end

      # @return [Array<Listener>] those that are open
      def listeners = @listeners.reject(&:closed?)

      # @!method serve(stream)
      #   Serves the requests of a connection that was accepted, or secured, elsewhere. Returns at once.
      #   @param stream [Stream] the server's from now on
      #   @return [nil]

      # @return [Hash{WebSocket => true}] those that {WebSocket.accept} has made of its requests, and that are not closed
      # @private
      attr_reader :sockets

      # Stops: accepts nothing more, closes idle connections, and waits for the requests that are under way. Each response
      # is its connection's last. A connection that was accepted, and whose first request or TLS handshake is yet to come,
      # is served. Each {WebSocket} is closed with code 1001, and event streams are ended: their clients connect again.
      #
      # @param timeout [Numeric, nil] seconds; what is open then stays open
      # @param backlog [Boolean] whether connections that wait to be accepted on shared sockets are served, too, because no
      #   other process will. On sockets that are this server's alone they always are
      # @return [Boolean] whether everything is closed
      # @asynchronous
      def stop(timeout: 30, backlog: false)
        deadline = timeout && Clock.now + timeout
        listeners.each { |listener| (backlog || !@shared.include?(listener)) ? listener.finish : listener.close }
        _drain
        until quiet?
          return false if deadline && Clock.left(deadline).zero?
          sleep 0.01
        end
        true
      end

      # @!method stats
      #   @return [Hash{Symbol => Integer, Hash}] now: `connections`, of them `idle`; requests `running` and `waiting` for a
      #     place. Ever: connections `accepted`, `requests`, those `refused` (malformed), `overloads` (503) and `errors` (500);
      #     `responses` by class ("2xx"); `durations`: how many requests took so many seconds at most ("0.1"; "+Inf": all), from
      #     the head to the response's end, and their "sum" of seconds

      private

      # Whether nothing is open any more. What goes on while its client likes may have begun since the last look.
      def quiet?
        _end_events
        @sockets.each_key { |socket| Pelton.spawn { socket.close(1001, "the server stops") } if socket.open? }
        @sockets.empty? && @listeners.sum(&:pending).zero? && stats[:connections].zero?
      end

      def template(errors, secure)
        {
          "SCRIPT_NAME" => "",
          "QUERY_STRING" => "",
          "SERVER_NAME" => "localhost",
          "SERVER_PORT" => secure ? "443" : "80",
          "SERVER_SOFTWARE" => "Pelton/#{VERSION}",
          "rack.url_scheme" => secure ? "https" : "http",
          "rack.errors" => errors,
          "rack.hijack?" => true
        }
      end
    end
  end
end
