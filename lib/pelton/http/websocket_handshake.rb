# frozen_string_literal: true

require "uri"

module Pelton
  module HTTP
    # How a {WebSocket} begins, on either side.
    module WebSocketHandshake
      # Whether a request asks for a WebSocket.
      #
      # @param env [Hash] Rack's
      def request?(env) = ::WebSocket::Driver.websocket?(env)

      # Makes a WebSocket of a request, in an application that Pelton serves. The block is given the socket, in a task of its
      # own; when it ends the socket is closed, unless {WebSocket#on_message} was set.
      #
      # @example
      #   run ->(env) { Pelton::HTTP::WebSocket.accept(env) { |socket| socket.each { |message| socket.write(message) } } }
      # @param env [Hash] Rack's
      # @param origins [:same, :any, Array<String>] the pages that may connect, by their Origin; clients that are no browsers
      #   have none, and may
      # @param protocols [Array<String>] subprotocols that this side speaks; the client's first one that is among them is taken
      # @param deflate [Boolean] whether messages may be compressed; by default if the gem permessage_deflate is there
      # @param max_message [Integer] bytes, see {WebSocket::MAX_MESSAGE}
      # @param ping [Numeric, nil] seconds between pings; a peer that sends nothing from one to the next is given up
      # @yieldparam socket [WebSocket]
      # @return [Array] the answer for Rack; an error's when this is no WebSocket request, or its origin may not connect
      # @raise [Error] another server than Pelton's has taken the request
      def accept(env, origins: :same, **options, &block)
        refusal = refuse(env, origins)
        return refusal if refusal
        hijack = env["rack.hijack"]
        raise Error, "WebSocket.accept needs Pelton's HTTP server: this one cannot give its stream away" unless hijack.respond_to?(:hijack)
        sockets = hijack.server.sockets
        socket = new(hijack.hijack, env: env, **options).begin(sockets)
        Pelton.spawn { serve(socket, &block) }
        [101, {}, []]
      rescue WebSocket::HandshakeError
        [400, {}, []] # as the driver has told the client
      end

      # Connects to a server.
      #
      # @param url [String] ws:// or wss://
      # @param headers [Hash{String => String}] more of them
      # @param protocols [Array<String>] subprotocols, by preference
      # @param timeout [Numeric] seconds until the socket is open
      # @param tls [TLS::Context, Hash, nil] as {Client#initialize} takes it
      # @param proxy [String, Symbol, nil] as {Client#initialize} takes it; it carries ws:// by CONNECT, too
      # @param options see {#accept}: deflate, max_message, ping
      # @return [WebSocket, Operation] with a block the Deferrable, whose block gets the socket
      # @raise [WebSocket::HandshakeError] the server does not agree
      # @raise [ConnectionError, TimeoutError]
      # @asynchronous
      def connect(url, headers: {}, protocols: [], timeout: 10, tls: nil, proxy: :environment, **options, &block)
        if block
          return Pelton.__send__(:defer, block) do
            connect(url, headers: headers, protocols: protocols, timeout: timeout, tls: tls, proxy: proxy, **options)
          end
        end
        request = handshake_request(url, headers)
        deadline = Clock.now + timeout
        tls = TLS::Context.new(**tls) if tls.is_a?(Hash)
        stream, = ClientConnector.new(tls: tls, proxy: proxy, unix: nil, tunnel: true).connect(request, timeout)
        socket = new(stream, url: request.url.to_s.sub("http", "ws"), headers: request.headers, protocols: protocols, **options)
        shake_hands(socket, stream, deadline)
      rescue EOFError
        raise WebSocket::HandshakeError, "the server closed the connection during the WebSocket handshake"
      rescue LimitError
        raise WebSocket::HandshakeError, "the head of the server's answer is longer than #{HEAD} bytes"
      end

      # Bytes of the head of a server's answer.
      HEAD = 32_768
      private_constant :HEAD

      private

      def refuse(env, origins)
        return answer(426, "a WebSocket request was expected", "connection" => "upgrade", "upgrade" => "websocket") unless request?(env)
        return answer(426, "version 13 is spoken here", "sec-websocket-version" => "13") unless env["HTTP_SEC_WEBSOCKET_VERSION"] == "13"
        return answer(400, "a WebSocket begins with HTTP/1.1") if env["SERVER_PROTOCOL"] == "HTTP/1.0"
        return answer(400, "the request for a WebSocket has a body") if env["CONTENT_LENGTH"].to_i > 0 || env["HTTP_TRANSFER_ENCODING"]
        return answer(400, "Sec-WebSocket-Key is missing or malformed") unless %r{\A[A-Za-z0-9+/]{22}==\z}.match?(env["HTTP_SEC_WEBSOCKET_KEY"].to_s)
        answer(403, "this origin may not connect") unless welcome?(env, origins)
      end

      def answer(status, text, headers = {})
        [status, {"content-type" => "text/plain", "content-length" => (text.bytesize + 1).to_s, **headers}, ["#{text}\n"]]
      end

      def welcome?(env, origins)
        origin = env["HTTP_ORIGIN"]
        return true if origin.nil? || origins == :any
        return origins.include?(origin) unless origins == :same
        origin.sub(%r{\Ahttps?://}, "").downcase == env["HTTP_HOST"].to_s.downcase
      end

      def serve(socket)
        yield socket
        socket.close unless socket.callbacks?
      rescue Cancelled
        socket.close(1001)
        raise
      rescue Exception => error # standard:disable Lint/RescueException
        farewell = error.is_a?(ClosedError) && !socket.open? # it has written to a client that is gone, or while the server stops
        socket.close(1011)
        raise unless farewell
      end

      def handshake_request(url, headers)
        raise ArgumentError, "#{url.inspect} is no ws:// or wss:// URL" unless url.to_s.match?(%r{\Awss?://}i)
        request = ClientRequest.new("GET", url.to_s.sub(/\Aws/i, "http"), base: nil, query: nil, defaults: {}, headers: headers, body: nil,
          json: ClientRequest::NONE, form: nil, basic_auth: nil, decode: false)
        request.url.fragment = nil
        request
      end

      def shake_hands(socket, stream, deadline)
        socket.shake_hands(stream.readline("\r\n\r\n", limit: HEAD, timeout: Clock.left(deadline)))
        begun = socket.begin
      ensure # a throw may leave it, too: Ruby's Timeout does so
        stream.abort unless begun
      end
    end
  end
end
