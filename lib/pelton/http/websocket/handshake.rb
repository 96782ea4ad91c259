# frozen_string_literal: true

require "uri"

module Pelton
  module HTTP
    # The opening handshake of a {WebSocket}, on both sides.
    module WebSocketHandshake
      # Whether a request asks for a WebSocket.
      #
      # @param env [Hash] Rack's
      def request?(env) = ::WebSocket::Driver.websocket?(env)

      # Makes a WebSocket of a request, in an application that Pelton serves. The block gets the socket in a task of its
      # own. When the block ends the socket is closed, unless {WebSocket#on_message} was set.
      #
      # @example
      #   run ->(env) do
      #     Pelton::HTTP::WebSocket.accept(env) { |socket| socket.each { |message| socket.write(message) } }
      #   end
      # @param env [Hash] Rack's
      # @param origins [:same, :any, Array<String>] the pages that may connect, by their Origin header; clients that are
      #   not browsers send none, and may always connect
      # @param protocols [Array<String>] supported subprotocols; the client's first choice among them is used
      # @param deflate [Boolean] whether messages may be compressed; by default, if the gem permessage_deflate is
      #   installed
      # @param options [Hash] see {WebSocket::DEFAULTS}
      # @yieldparam socket [WebSocket]
      # @return [Array] the response for Rack; an error if the request is not for a WebSocket, or its origin may not
      #   connect
      # @raise [ArgumentError] an option is unknown
      # @raise [Error] another server than Pelton's runs the application
      def accept(env, origins: :same, protocols: [], deflate: WebSocketDeflate.available?, **options, &block)
        settings = settings(options)
        refusal = refuse(env, origins)
        return refusal if refusal
        exchange = env["rack.hijack"] # which no middleware wraps
        unless exchange.respond_to?(:hijack)
          raise Error, "WebSocket.accept needs Pelton's HTTP server: this server does not hand over its streams"
        end
        server = exchange.server
        wire = http2?(env) ? ServerTunnel.new(exchange, env.merge(KEYED)) : ServerWire.new(exchange.hijack, env)
        driver = ::WebSocket::Driver.rack(wire, protocols: Array(protocols))
        socket = agree(driver, wire, deflate, masked: true, **settings) { driver.start }.begin(server)
        Pelton.spawn(detached: true) { serve(socket, &block) }
        [101, {}, []]
      rescue WebSocket::HandshakeError
        wire.stream&.close
        [400, {}, []] # by HTTP/1.1 the driver has sent the response
      end

      # Connects to a server.
      #
      # @param url [String] ws:// or wss://
      # @param headers [Hash{String => String}] additional headers
      # @param protocols [Array<String>] subprotocols, by preference
      # @param timeout [Numeric] seconds until the socket is open
      # @param tls [TLS::Context, Hash, nil] as {Client#initialize} takes it
      # @param proxy [String, Symbol, nil] as {Client#initialize} takes it; ws:// goes through it by CONNECT, too
      # @param deflate [Boolean] see {#accept}
      # @param options [Hash] see {WebSocket::DEFAULTS}
      # @return [WebSocket, Operation] with a block the Deferrable, whose block gets the socket
      # @raise [WebSocket::HandshakeError] the server does not accept the WebSocket
      # @raise [ConnectionError, TimeoutError]
      # @raise [ArgumentError] the URL is not ws:// or wss://, or an option is unknown
      # @asynchronous
      def connect(url, headers: {}, protocols: [], timeout: 10, tls: nil, proxy: :environment,
        deflate: WebSocketDeflate.available?, **options, &block)
        if block
          return Deferrable.defer(block) do
            connect(url, headers: headers, protocols: protocols, timeout: timeout, tls: tls, proxy: proxy,
              deflate: deflate, **options)
          end
        end
        settings = settings(options)
        request = handshake_request(url, headers)
        deadline = Clock.now + timeout
        tls = TLS::Context.new(**tls) if tls.is_a?(Hash)
        stream, = ClientConnector.new(tls: tls, proxy: proxy, unix: nil, tunnel: true).connect(request, timeout)
        wire = ClientWire.new(stream, request.url.to_s.sub("http", "ws"))
        driver = ::WebSocket::Driver.client(wire, protocols: Array(protocols))
        request.headers.each { |name, value| driver.set_header(name, value) }
        socket = agree(driver, wire, deflate, masked: false, **settings) do
          driver.start
          driver.parse(stream.readline("\r\n\r\n", limit: HEAD, timeout: Clock.left(deadline)))
        end
        begun = socket.begin
      rescue EOFError
        raise WebSocket::HandshakeError, "the server closed the connection during the WebSocket handshake"
      rescue LimitError
        raise WebSocket::HandshakeError, "the head of the server's response is longer than #{HEAD} bytes"
      ensure # Ruby's Timeout leaves by throw
        stream&.abort unless begun
      end

      # The most bytes of the head of a server's response.
      HEAD = 32_768

      # The driver writes to a wire. A wire with an environment belongs to a server.
      ServerWire = Struct.new(:stream, :env) do
        include Opaque

        def write(bytes) = stream.write(bytes)
      end
      ClientWire = Struct.new(:stream, :url) do
        include Opaque

        def write(bytes) = stream.write(bytes)
      end

      # By HTTP/2 the driver writes no bytes: what it has agreed to becomes fields of the response, which opens the
      # stream (RFC 8441).
      ServerTunnel = Struct.new(:exchange, :env, :stream) do
        include Opaque

        def write(head)
          return unless head.start_with?("HTTP/1.1 101 ")
          fields = head.lines("\r\n", chomp: true).grep(AGREED).to_h { |line| line.split(": ", 2) }
          self.stream = exchange.accept("rack.protocol" => "websocket", **fields)
        end
      end
      AGREED = /\Asec-websocket-(?:protocol|extensions):/i
      # What a driver needs, though HTTP/2 does without: the key proves that the server has not answered by a cache.
      KEYED = {"HTTP_SEC_WEBSOCKET_KEY" => "AAAAAAAAAAAAAAAAAAAAAA=="}.freeze
      private_constant :HEAD, :ServerWire, :ClientWire, :ServerTunnel, :AGREED, :KEYED

      private

      def refuse(env, origins)
        unless request?(env)
          return answer(426, "a WebSocket request was expected", "connection" => "upgrade", "upgrade" => "websocket")
        end
        unless env["HTTP_SEC_WEBSOCKET_VERSION"] == "13"
          return answer(426, "only version 13 is supported", "sec-websocket-version" => "13")
        end
        return answer(400, "a WebSocket needs HTTP/1.1") if env["SERVER_PROTOCOL"] == "HTTP/1.0"
        if env["CONTENT_LENGTH"].to_i > 0 || env["HTTP_TRANSFER_ENCODING"]
          return answer(400, "the request for a WebSocket has a body")
        end
        unless http2?(env) || %r{\A[A-Za-z0-9+/]{22}==\z}.match?(env["HTTP_SEC_WEBSOCKET_KEY"].to_s)
          return answer(400, "Sec-WebSocket-Key is missing or malformed")
        end
        answer(403, "this origin may not connect") unless welcome?(env, origins)
      end

      def http2?(env) = env["SERVER_PROTOCOL"] == "HTTP/2"

      def answer(status, text, headers = {})
        [status, {"content-type" => "text/plain", "content-length" => (text.bytesize + 1).to_s, **headers},
          ["#{text}\n"]]
      end

      def welcome?(env, origins)
        origin = env["HTTP_ORIGIN"]
        return true if origin.nil? || origins == :any
        return origins.include?(origin) unless origins == :same
        # A page without TLS may be anybody's. A proxy may have ended TLS before this server.
        return false if env["rack.url_scheme"] == "https" && !origin.downcase.start_with?("https://")
        origin.sub(%r{\Ahttps?://}i, "").downcase == env["HTTP_HOST"].to_s.downcase
      end

      def serve(socket)
        yield socket
        socket.close unless socket.callbacks?
      rescue Cancelled
        socket.close(1001)
        raise
      rescue Exception => error # standard:disable Lint/RescueException
        # The block wrote though the client had left or the server stops
        expected = error.is_a?(ClosedError) && !socket.open?
        socket.close(1011)
        raise unless expected
      end

      def handshake_request(url, headers)
        raise ArgumentError, "#{url.inspect} is not a ws:// or wss:// URL" unless url.to_s.match?(%r{\Awss?://}i)
        request = ClientRequest.new("GET", url.to_s.sub(/\Aws/i, "http"), base: nil, query: nil, defaults: {},
          headers: headers, body: nil,
          json: ClientRequest::NONE, form: nil, basic_auth: nil, decode: false)
        request.url.fragment = nil
        request
      end

      def settings(options)
        unknown = options.keys - WebSocket::DEFAULTS.keys
        raise ArgumentError, "unknown option#{"s" if unknown.size > 1}: #{unknown.join(", ")}" if unknown.any?
        WebSocket::DEFAULTS.merge(options)
      end

      # Lets the block perform the handshake by the driver, which is not needed afterwards.
      #
      # @param wire [#stream] which the driver writes to
      # @param masked [Boolean] whether the peer is the client
      def agree(driver, wire, deflate, masked:, max_message:, **settings)
        error = nil
        driver.on(:error) { |event| error = event.message }
        extension = WebSocketDeflate.extension(max_message) if deflate
        driver.add_extension(extension) if extension
        yield
        raise WebSocket::HandshakeError, error if error
        compression = extension&.agreed
        frames = WebSocketFrames.new(masked: masked, limit: max_message, deflate: compression)
        WebSocket.new(wire.stream, frames, client: !masked, protocol: driver.protocol, deflate: compression, **settings)
      end
    end
  end
end
