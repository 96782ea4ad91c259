# frozen_string_literal: true

require_relative "client"
require_relative "event_loop"
require_relative "identifiers"
require_relative "streams"
require_relative "worker"

module Pelton
  module Rails
    class Cable
      # What is replaced in Action Cable 7.0 to 8.1, which has no interface for another server. Each method leaves all
      # to Rails where Pelton's HTTP server does not serve the connection.
      module ActionCable
        # Of the environment: the {Cable} that serves the request.
        KEY = "pelton.cable"

        def self.install
          ::ActionCable::Server::Base.prepend(Server)
          ::ActionCable::Connection::Base.prepend(Connection)
          ::ActionCable::Connection::WebSocket.prepend(WebSocket)
          ::ActionCable::Channel::Base.prepend(Streams, Identifiers)
        end

        # `ActionCable.server`: heartbeats, the list of connections, the event loop and the worker pool.
        module Server
          def call(env)
            if env["rack.hijack"].respond_to?(:hijack)
              @pelton = Cable.new(self) unless @pelton&.here?
              event_loop.cable = worker_pool.cable = env[KEY] = @pelton
              socket = HTTP::WebSocket.request?(env)
            end
            # A page of a foreign origin, which Rails has logged
            super.tap { |status,| @pelton.cable.count(:unauthorized) if socket && status == 404 }
          end

          def setup_heartbeat_timer = (super unless @pelton)

          def connections = @pelton ? @pelton.connections : super

          def add_connection(connection) = connection.try(:pelton_client)&.admitted || super

          def remove_connection(connection) = (super unless connection.try(:pelton_client))

          # Before classes are unloaded, and when an application asks for it.
          def restart
            @pelton&.release
            super
          end

          def event_loop = @event_loop || @mutex.synchronize { @event_loop ||= EventLoop.new }

          def worker_pool
            @worker_pool || @mutex.synchronize do
              @worker_pool ||= Worker.new(max_size: config.worker_pool_size).tap { |pool| pool.cable = @pelton }
            end
          end
        end

        # `ActionCable::Connection::Base`.
        module Connection
          # @return [Client, nil] nil: Rails serves this connection
          attr_accessor :pelton_client

          # A client's commands come one after the other, each in a fiber that may wait.
          def send_async(method, *arguments)
            pelton_client ? worker_pool.invoke(self, method, *arguments, connection: self) : super
          end

          # An error that nothing in a channel has rescued.
          def rescue_with_handler(...)
            pelton_client&.failed
            super
          end
        end

        # `ActionCable::Connection::WebSocket`, which wraps a socket of Rails.
        module WebSocket
          def initialize(env, connection, *, **)
            cable = env.delete(KEY)
            cable ? @websocket = (Client.new(cable, env, connection) if HTTP::WebSocket.request?(env)) : super
          end
        end
      end
    end
  end
end
