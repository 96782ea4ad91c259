# frozen_string_literal: true

require "socket"
require_relative "../pelton"
require_relative "http/input"
require_relative "http/body"
require_relative "http/exchange"
require_relative "http/common_log"
require_relative "http/spool"
require_relative "http/sinatra"
require_relative "http/server"
require_relative "http/client"

module Pelton
  # HTTP/1.1. {Server} runs Rack applications on the reactor, {Client} sends requests, and so do {HTTP.get} and its like.
  module HTTP
    autoload :WebSocket, "pelton/http/websocket" # needs a gem
    autoload :EventStream, "pelton/http/event_stream"

    class << self
      # What C calls: it is no part of the API.
      # @private
      def _input(exchange) = Input.new(exchange)

      # @private
      def _send_body(exchange, body, env) = Body.deliver(exchange, body, env)

      # Rack wants an IO from rack.hijack: programs wait for it by means of their own. Of a connection that speaks TLS it is
      # one end of a pair, and two tasks carry what passes.
      # @private
      def _io_of(stream)
        return bridge(stream) if stream.tls
        stream.flush
        early = stream.read_nonblock(65_536, exception: false)
        kind = stream.local_address.unix? ? UNIXSocket : TCPSocket
        kind.for_fd(stream.__send__(:_detach)).tap { |io| io.ungetbyte(early) if early.is_a?(String) }
      end

      # @private
      def _ended(log, finished, env, status, headers, bytes, seconds, aborted)
        tell { log.call(env, status, bytes, seconds) } if log
        error = ClosedError.new("the client was gone before the response was complete") if aborted
        finished.reverse_each { |callable| tell { callable.call(env, status, headers, error) } }
      end

      # @private
      def _closed(callables) = callables.each { |callable| tell { callable.call } }

      # A Hash as a TLS::Context, which agrees upon HTTP/1.1 unless it says otherwise; what is none as it is.
      # @private
      def _tls(settings) = settings.is_a?(Hash) ? TLS::Context.new(alpn: ["http/1.1"], **settings) : settings

      private

      # Others are to be told as well, whatever becomes of it.
      def tell
        yield
      rescue StandardError, ScriptError => error
        Pelton.report_error(error)
      end

      def bridge(stream)
        ours, theirs = UNIXSocket.pair
        ours = Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno)
        tasks = [carry(stream, ours), carry(ours, stream)]
        Pelton.spawn do
          tasks.each(&:await)
        ensure
          [stream, ours].each(&:close)
        end
        theirs
      end

      def carry(from, to)
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
  end
end
