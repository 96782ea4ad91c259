# frozen_string_literal: true

require "socket"
require_relative "../pelton"
require_relative "http/asterisk"
require_relative "http/input"
require_relative "http/body"
require_relative "http/exchange"
require_relative "http/certificate_watch"
require_relative "http/common_log"
require_relative "http/https_only"
require_relative "http/json_log"
require_relative "http/rack_2"
require_relative "http/spool"
require_relative "http/idle_memory"
require_relative "http/refusal_log"
require_relative "http/misdirection"
require_relative "http/attachments"
require_relative "http/compression"
require_relative "http/drain"
require_relative "http/send_file"
require_relative "http/server"
require_relative "http/client"
require_relative "http/page"

module Pelton
  public_constant :HTTP

  # HTTP/1.1. {Server} runs Rack applications on the reactor. {Client} sends requests; {HTTP.get}, {HTTP.post} and so on
  # use a shared one.
  module HTTP
    autoload :WebSocket, "pelton/http/websocket" # needs a gem
    autoload :EventStream, "pelton/http/event_stream"

    PLAIN_ANSWER = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 55\r\n" \
      "connection: close\r\n\r\nthis port speaks HTTPS: the request came as plain HTTP\n"
    EVENT = "pelton.event"
    private_constant :PLAIN_ANSWER, :EVENT

    class << self
      # @return [Configuration, nil] the settings of the `pelton serve` that loads, or has loaded, the application; nil
      #   in other programs
      # @private
      attr_accessor :configuration

      # Rack wants an IO from rack.hijack, because programs wait for it in their own ways. For a TLS connection that is
      # one end of a socket pair, and two tasks copy between the pair and the connection.
      # @private
      def _io_of(stream)
        return bridge(stream) if stream.tls
        stream.flush
        early = stream.read_nonblock(65_536, exception: false)
        kind = stream.local_address.unix? ? UNIXSocket : TCPSocket
        kind.for_fd(stream.detach).tap { |io| io.ungetbyte(early) if early.is_a?(String) }
      rescue Exception # standard:disable Lint/RescueException -- raised again. Nobody has the stream yet
        stream.abort
        raise
      end

      # @private
      def _ended(log, finished, env, status, headers, bytes, seconds, error)
        error = ClosedError.new("the client closed the connection before the response was complete") if error == true
        subscribers = Notifications.for("request.http_server")
        if log || subscribers.any?
          event = env[EVENT] || Notifications::Event.new("request.http_server", {env: env}, subscribers)
          event.payload.update(status: status, headers: headers, bytes: bytes)
          event.finish(error, seconds, also: log)
        end
        finished.reverse_each { |callable| notify { callable.call(env, status, headers, error) } }
      end

      # @private
      def _began(server, env) = env[EVENT] = Notifications.start("request.http_server") { {env: env, server: server} }

      # @private
      def _closed(callables) = callables.each { |callable| notify { callable.call } }

      # Makes a server's TLS::Context of a Hash. Its `alpn:` is the protocols that the server speaks by default, and a
      # request without TLS is answered. Returns other objects unchanged.
      # @private
      def tls_context(settings, http2: false)
        return settings unless settings.is_a?(Hash)
        TLS::Context.new(alpn: [*("h2" if http2), "http/1.1"], plain_answer: PLAIN_ANSWER, **settings)
      end

      # @!method http2?
      #   @return [Boolean] whether Pelton is built with libnghttp2, and servers and clients speak HTTP/2

      private

      # An error of one callable must not keep the others from being called.
      def notify
        yield
      rescue StandardError, ScriptError => error
        Pelton.report_error(error)
      end

      def bridge(stream)
        ours, theirs = UNIXSocket.pair
        ours = Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno)
        tasks = [copy(stream, ours), copy(ours, stream)]
        Pelton.spawn(detached: true) do
          tasks.each(&:await)
        ensure
          [stream, ours].each(&:close)
        end
        theirs
      end

      def copy(from, to)
        Pelton.spawn do
          begin
            loop { to.write(from.readpartial(65_536)) }
          rescue EOFError
            to.close_write unless to.closed?
          end
        rescue ConnectionError, ClosedError
          [from, to].each(&:abort)
        end
      end
    end

    Pelton.register_upcalls(request_input: Input.method(:new), check_host: Misdirection.method(:check),
      check_body: Body.method(:check), send_body: Body.method(:deliver),
      take_io: method(:_io_of), request_began: method(:_began),
      exchange_ended: method(:_ended), client_closed: method(:_closed))
  end
end
