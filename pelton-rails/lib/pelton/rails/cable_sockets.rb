# frozen_string_literal: true

require "action_cable"

module Pelton
  module Rails
    # Where `config.pelton.cable` is false, or Action Cable is newer than {Cable} knows: closes Action Cable's sockets
    # when the server stops: each client gets Action Cable's message to reconnect, and a close frame with code 1001.
    # Otherwise these hijacked sockets would break when the process ends. The stop waits for the channels'
    # `unsubscribed`, in Action Cable's threads; jobs that they enqueue are still accepted.
    module CableSockets
      # Seconds for clients to answer the close frame, and for channels to end.
      TIMEOUT = 5

      # A socket as {HTTP::Server#stop} expects it.
      class Socket
        # @param connection [ActionCable::Connection::Base, ActionCable::Server::Socket]
        # @param server [HTTP::Server]
        def initialize(connection, server)
          @connection = connection
          @server = server
        end

        def add = @attachment = @server.attach(self)

        def remove = @attachment&.detach

        # A socket that the application has closed still waits for its client's answer, so it needs the time limit, too.
        #
        # @param code [Integer]
        # @param reason [String]
        def close(code, reason)
          Pelton.add_timer(TIMEOUT) { remove }
          return unless @connection.send(:websocket).alive?
          restart = ::ActionCable::INTERNAL[:disconnect_reasons][:server_restart]
          @connection.transmit(type: "disconnect", reason: restart, reconnect: true)
          @connection.send(:websocket).send(:websocket).close_with(code, reason)
        end
      end

      # Action Cable itself allows only the codes that browser scripts may use.
      module AnyCode
        def close_with(code, reason)
          @ready_state = self.class::CLOSING unless @ready_state == self.class::CLOSED
          @driver.close(reason, code)
        end
      end

      # @param connection [Class] ActionCable::Connection::Base
      def self.install(connection)
        # Rails 8.2 has taken the socket out of the connection.
        owner = defined?(::ActionCable::Server::Socket) ? ::ActionCable::Server::Socket : connection
        client = defined?(owner::ClientSocket) ? owner::ClientSocket : ::ActionCable::Connection::ClientSocket
        owner.prepend(self)
        client.include(AnyCode)
      end

      # The server is known until Action Cable hijacks the connection.
      def process
        exchange = env["async.callback"]
        @pelton_socket = Socket.new(self, exchange.server) if exchange.respond_to?(:server)
        super
      end

      def on_open
        @pelton_socket&.add
        super
      end

      def on_close(...)
        super
      rescue # a reload has ended the thread pool
        @pelton_socket&.remove
        raise
      end

      private

      # Runs in a thread of Action Cable.
      def handle_close
        super
      ensure
        @pelton_socket&.remove
      end
    end
  end
end
