# frozen_string_literal: true

require "rack/request"

module Pelton
  module Cable
    # A client's connection, from which an application derives its own: it finds out who the client is.
    #
    # @example
    #   class Connection < Pelton::Cable::Connection
    #     identified_by :user
    #
    #     def connect
    #       self.user = User[session["user_id"]] || reject_unauthorized_connection
    #     end
    #   end
    class Connection
      include Opaque

      # The client may not connect.
      class Unauthorized < Error
      end

      class << self
        # Who the client is: attributes that {#connect} sets. {Server#disconnect} finds connections by them, in all
        # processes, and a session is restored only to the client that had it: so they are texts, numbers, or have a
        # `to_gid_param`, `pk` or `id`.
        #
        # @param names [Array<Symbol>]
        # @return [void]
        def identified_by(*names)
          attr_accessor(*names)
          @identifiers = identifiers + names
        end

        # @return [Array<Symbol>]
        def identifiers = @identifiers || ((self == Connection) ? [] : superclass.identifiers)
      end

      # @private
      def initialize(session, env)
        @session = session
        @env = env
      end

      # Called before anything else. It may wait. An override sets the identifiers, or calls
      # {#reject_unauthorized_connection}.
      def connect
      end

      # Asked before each subscription, as the client's right to be here may have ended since {#connect}. It may wait.
      # Where an override returns false or nil, or calls {#reject_unauthorized_connection}, the connection ends, and the
      # client does not come back by itself.
      #
      # @return [Boolean]
      def authorized? = true

      # Called at the end, after the channels' {Channel#unsubscribed}. It may wait.
      def disconnect
      end

      # Ends {#connect}, or {#authorized?}. The client does not come back by itself.
      #
      # @raise [Unauthorized]
      def reject_unauthorized_connection = raise(Unauthorized, "the client may not connect")

      # @return [Hash] Rack's environment of the request. Only {#connect} has it: thousands of connections would keep as
      #   many
      # @raise [Error] elsewhere
      def env = @env || raise(Error, "only connect has the request: keep what you need of it in an attribute")

      # @return [Rack::Request]
      # @raise [Error] outside of {#connect}
      def request = Rack::Request.new(env)

      # @return [Hash{String => String}]
      # @raise [Error] outside of {#connect}
      def cookies = request.cookies

      # @return [Hash] of the session middleware before the cable
      # @raise [Error] outside of {#connect}
      def session = request.session

      # Sends a message to the client. It never waits: see {Server#initialize} for a client that reads too slowly.
      #
      # @param message [Object] that JSON can express
      # @return [nil]
      def transmit(message) = @session.transmit(JSON.generate(message))

      # Ends the connection.
      #
      # @param reason [String, nil] for the client
      # @param reconnect [Boolean] whether the client should reconnect
      # @return [nil]
      def close(reason: nil, reconnect: true) = @session.disconnect(reason, reconnect)

      # @private
      def _connect
        connect
      ensure
        @env = nil
      end
    end
  end
end
