# frozen_string_literal: true

module Pelton
  module Cable
    # What executes the commands of a {Session}, on a {Connection} and its {Channel}s. It is the session's seam:
    # whatever has these public methods can be driven by one (see {Server#accept}). Each method may wait, and {Refused}
    # is an answer to the client.
    # @private
    class Subscriptions
      # @return [Connection]
      attr_reader :connection

      # @param connection_class [Class]
      # @param env [Hash] Rack's. It is not kept
      def initialize(session, connection_class, env)
        @session = session
        @server = session.server
        @connection = connection_class.new(session, env)
        @wanted = Recovery.wanted(env)
        @channels = {}
      end

      # Greets the client, or sends it away.
      #
      # @return [Boolean] whether it was let in
      def open
        began = @server.disconnects.listen
        @connection._connect
        @server.disconnects.check(@session, began)
        return false unless @session.socket.open?
        (@session.extended? && @server.recovery) ? welcome(@server.recovery) : @session.transmit(%({"type":"welcome"}))
        true
      rescue Connection::Unauthorized
        turn_away("a client may not connect")
      end

      # @return [Integer]
      def size = @channels.size

      # @param identifier [String]
      def include?(identifier) = @channels.key?(identifier)

      # Subscribes, and answers the client.
      #
      # @param command [Hash{String => Object}] whose identifier is a String within the limits, and not subscribed yet
      # @return [Boolean, :failed] whether the channel has accepted. Failed: by an error, which was reported; the client
      #   has no answer yet
      # @raise [Refused] then the session answers
      def subscribe(command)
        identifier = command["identifier"].freeze
        authorized = nil
        return :failed if @session.protect { authorized = still_authorized? } == :failed
        return turn_away("a client may not stay connected") unless authorized
        entered = enter(identifier)
        @session.answer(identifier, entered ? "confirm_subscription" : "reject_subscription") unless entered == :failed
        entered
      end

      # @param command [Hash{String => Object}] of a subscription
      def unsubscribe(command)
        channel = @channels.delete(command["identifier"])
        @session.protect { channel._unsubscribe }
      end

      # @param command [Hash{String => Object}] of a subscription
      # @raise [Refused]
      def perform(command)
        data = @session.parse(command["data"], "the data")
        @session.protect { @channels[command["identifier"]]._perform(data) }
      end

      # @param identifier [String] of a subscription
      # @return [Array<String>] whose messages go to the client as they are
      def streams(identifier) = @channels[identifier]._streams

      # @param identifier [String] of a subscription
      # @return [Array<Follower>] of its channel
      def followers(identifier) = @channels[identifier]._followers

      # @param identifier [String] of a subscription
      # @return [Hash{String => Object}, nil] who is present on the streams that its channel tracks; nil: it tracks none
      def presence(identifier) = @channels[identifier]._presence

      # Unsubscribes from everything, once the socket is closed.
      def stop
        identifiers = @channels.keys
        @channels.each_value { |channel| @session.protect { channel._unsubscribe } }
        @channels = {}
        @session.protect { @connection.disconnect }
      ensure
        @server.recovery.leave(@id, identifiers) if @id
      end

      # The client must not come back to its subscriptions.
      def forget = @id && @server.recovery.forget(@id)

      private

      # @return [false]
      def turn_away(what)
        @server.refuse(:unauthorized, what)
        @session.disconnect("unauthorized", false)
        false
      end

      def still_authorized?
        @connection.authorized?
      rescue Connection::Unauthorized
        false
      end

      # Greets a client that may come back to its subscriptions, and one that does. It asks for what it has missed as
      # soon as it is greeted, so nothing else may reach it before. If a channel rejects it now, it is told to come back
      # without its session.
      def welcome(recovery)
        identity = Identity.of(@connection)
        identifiers = recovery.take(@wanted, identity) if @wanted && identity
        @id = recovery.enter(@session, identity)
        @session.transmit(JSON.generate({type: "welcome", sid: @id,
          **(identifiers ? {restored: true, restored_ids: identifiers} : {})}))
        return unless identifiers
        @server.count(:restored)
        @session.hold(identifiers)
        @session.disconnect("restore_failed", true) unless identifiers.all? { |identifier| restore(identifier) }
      end

      def restore(identifier)
        enter(identifier.freeze) == true
      rescue Refused
        false # the channel does not exist any more
      end

      # @return [Boolean, :failed] whether the channel has accepted
      # @raise [Refused]
      def enter(identifier)
        params = @session.parse(identifier, "the identifier", symbolize_names: true)
        channel = @server.channel_class(params[:channel]).new(@session, @connection, identifier, params)
        @channels[identifier] = channel
        accepted = nil
        called = @session.protect { accepted = channel._subscribe }
        return true if accepted
        @channels.delete(identifier)
        channel._stop
        return :failed if called == :failed
        if called == :done
          @server.refuse(:rejected, "#{channel.class.name} rejects a subscription")
        else
          @server.count(:rejected)
        end
        false
      end
    end
  end
end
