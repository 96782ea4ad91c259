# frozen_string_literal: true

require "pelton/metrics"

module Pelton
  module Cable
    # A Rack application for WebSockets with Action Cable's protocol. It needs Pelton's HTTP server, and belongs to the
    # thread that serves.
    class Server
      # Limits of a client.
      LIMITS = {
        subscriptions: 1000,   # at a time
        identifier: 4096,      # bytes
        message: 64 << 10,     # bytes of a command
        # Bytes that wait for a client that reads slowly; then it is closed with code 1013, and comes back
        output: 1 << 20
      }.freeze
      # A name that a channel may have.
      CHANNEL = /\A(?:[A-Z]\w*::)*[A-Z]\w*Channel\z/
      # What all servers of the process count, for Prometheus.
      FAMILIES = {
        "cable_connections" => Metrics::Family.new("gauge", "pelton_cable_connections", "Connected clients."),
        "cable_subscriptions" => Metrics::Family.new("gauge", "pelton_cable_subscriptions",
          "Subscriptions of the connected clients."),
        "cable_accepted" => Metrics::Family.new("counter", "pelton_cable_accepted_total", "Clients that were let in."),
        "cable_restored" => Metrics::Family.new("counter", "pelton_cable_restored_total",
          "Clients of the extended protocol whose subscriptions were restored."),
        "cable_unauthorized" => Metrics::Family.new("counter", "pelton_cable_unauthorized_total",
          "Clients that were not let in."),
        "cable_commands" => Metrics::Family.new("counter", "pelton_cable_commands_total", "Commands of clients."),
        "cable_refused" => Metrics::Family.new("counter", "pelton_cable_refused_total",
          "Commands that could not be executed."),
        "cable_rejected" => Metrics::Family.new("counter", "pelton_cable_rejected_total",
          "Subscriptions that channels have rejected."),
        "cable_errors" => Metrics::Family.new("counter", "pelton_cable_errors_total", "Errors of channels."),
        "cable_slow" => Metrics::Family.new("counter", "pelton_cable_slow_total",
          "Clients that were closed because they read too slowly."),
        "cable_gaps" => Metrics::Family.new("counter", "pelton_cable_gaps_total",
          "Clients that were told to come back because messages were lost."),
        "cable_sent" => Metrics::Family.new("counter", "pelton_cable_sent_total",
          "Broadcast messages, for each client that was sent one.")
      }.freeze
      # Seconds between two lines of the log about what is refused.
      REPORT_EVERY = 1
      # And between two reports of an error of the same class and place, and two lines about slow clients.
      REPEAT_EVERY = 60
      # Errors whose last reports are remembered.
      MOST_ERRORS = 100
      # Of a close frame: try again later.
      SLOW = 1013
      private_constant :CHANNEL, :REPORT_EVERY, :REPEAT_EVERY, :MOST_ERRORS, :SLOW

      @all = ObjectSpace::WeakMap.new

      class << self
        # @return [Hash{String => Integer}] of all servers of the process
        # @private
        def stats
          FAMILIES.keys.to_h do |name|
            [name, @all.keys.sum { |server| server.stats.fetch(name.delete_prefix("cable_").to_sym) }]
          end
        end

        # @private
        attr_reader :all
      end

      # @return [PubSub]
      # @private
      def pubsub = @pubsub ||= PubSub.default

      # @return [Streams]
      # @private
      def streams
        @streams ||= Streams.new(pubsub, limit: @limits[:output], gap: method(:gap)) { |socket, _| too_slow(socket) }
      end

      # @return [Presence]
      # @private
      def presence = @presence ||= Presence.new(pubsub)

      # @return [Recovery, nil]
      # @private
      def recovery = @restore && (@recovery ||= Recovery.new(pubsub, seconds: @restore))

      # @return [Disconnects]
      # @private
      def disconnects = @disconnects ||= Disconnects.new(pubsub, @connection.name.to_s) { sessions }

      # @return [Hash]
      # @private
      attr_reader :limits

      # @return [SignedStreams, nil]
      attr_reader :signed_streams

      # @return [Boolean]
      # @private
      attr_reader :public_streams

      # @param connection [Class] of the connections, derived from {Connection}
      # @param channels [Array<Class>, nil] that clients may subscribe to; nil: all classes derived from {Channel} whose
      #   names end with Channel
      # @param origins [:same, :any, Array<String>] see {HTTP::WebSocketHandshake#accept}
      # @param pubsub [PubSub, nil] whose topics are the streams; nil: {PubSub.default}
      # @param heartbeat [Numeric] seconds between two heartbeats
      # @param connecting [Integer] how many {Connection#connect} run at once: the others wait, when thousands come back
      #   after a restart
      # @param timeout [Numeric, nil] seconds that {Connection#connect}, and each call of a channel, may take; nil: they
      #   may wait for ever, and keep the connections of clients that have gone
      # @param signed_streams [String, nil] the key of {SignedStreams}, by which clients may subscribe without a channel
      #   of the application; nil: they may not
      # @param public_streams [Boolean] whether any client that may connect may subscribe to any stream by its name, as
      #   AnyCable's `streamFrom` does. Nothing is secret then
      # @param restore [Numeric, nil] seconds for which a client of the extended protocol may come back to its
      #   subscriptions; nil: it subscribes again
      # @param limits [Hash] see {LIMITS}
      # @raise [ArgumentError] an option is unknown, or the key is short
      def initialize(connection: Connection, channels: nil, origins: :same, pubsub: nil, heartbeat: 3, connecting: 100,
        timeout: 30,
        signed_streams: nil, public_streams: false, restore: 300, **limits)
        unknown = limits.keys - LIMITS.keys
        raise ArgumentError, "unknown option#{"s" if unknown.size > 1}: #{unknown.join(", ")}" if unknown.any?
        @connection = connection
        @channels = channels&.to_h { |channel| [channel.name, channel] }
        @origins = origins
        @pubsub = pubsub
        @timeout = timeout
        @signed_streams = SignedStreams.new(signed_streams) if signed_streams
        @public_streams = public_streams
        @restore = restore
        @limits = LIMITS.merge(limits).freeze
        @heart = Heart.new(heartbeat, limit: @limits[:output])
        @connecting = Semaphore.new(connecting)
        @sessions = {}.compare_by_identity
        @counts = Hash.new(0)
        @reported = {}
        @errors = {}
        Server.all[self] = true
      end

      # @param env [Hash] Rack's
      # @return [Array] the response: the client for browsers, if `client.js` below this path is wanted; a refusal if
      #   the request is for no WebSocket, or comes from a page of another origin
      def call(env)
        return Client.call(env) if Client.wanted?(env)
        accept(env, origins: @origins) { |session| Subscriptions.new(session, @connection, env) }.tap do |status,|
          foreign(env) if status == 403
        end
      end

      # Serves a WebSocket with other connections and channels than this gem's.
      #
      # @yieldparam session [Session]
      # @yieldreturn [Subscriptions] or what has the same methods
      # @return [Array] see {#call}
      # @private
      def accept(env, origins: :any, &subscriptions)
        HTTP::WebSocket.accept(env, origins: origins, protocols: [EXTENDED, PROTOCOL], max_message: @limits[:message],
          ping: nil) do |socket|
          @connecting.acquire { within_time { Session.new(self, socket).start(&subscriptions) } }
        end
      end

      # Sends a message to all who have subscribed to a stream: see {Cable.broadcast}.
      #
      # @return [nil]
      def broadcast(stream, message) = Cable.broadcast(stream, message, pubsub: pubsub)

      # Ends connections in all processes that have the topics in common, of all servers with this class of connections.
      # Any thread may call it.
      #
      # @param identifiers [Hash{Symbol => Object}] of the connections: `disconnect(user: user)`; without any: all of
      #   them. Values are compared by their text: a String, a number, or what has a `to_gid_param`, `pk` or `id`
      # @param reconnect [Boolean] whether the clients should come back: they are let in and subscribe again, as far as
      #   they still may
      # @param here [Boolean] whether only this process is meant
      # @return [nil]
      # @raise [ArgumentError] an identifier is unknown, or its value has no text
      # @raise [OverloadError] the other processes cannot be told now: see {PubSub#publish}. In this process the
      #   connections have ended
      def disconnect(reconnect: true, here: false, **identifiers)
        unknown = identifiers.keys - @connection.identifiers
        if unknown.any?
          raise ArgumentError, "#{@connection.name} is not identified by #{unknown.join(", ")}: see identified_by"
        end
        texts = Identity.texts(identifiers)
        here ? disconnects.finish(texts, reconnect) : disconnects.disconnect(texts, reconnect)
        nil
      end

      # @return [Hash{Symbol => Integer}] `connections`, `subscriptions` and `streams` now; counted: clients `accepted`,
      #   `restored` and `unauthorized`, `commands`, `refused` ones, `rejected` subscriptions, `errors` of channels,
      #   `slow` clients that were closed, clients that were told to come back because of `gaps`, and messages `sent`
      def stats
        {connections: @sessions.size, subscriptions: @sessions.each_key.sum(&:size), streams: streams.size,
         sent: streams.sent}
          .merge(%i[accepted restored unauthorized commands refused rejected errors slow gaps]
            .to_h { |name| [name, @counts[name]] })
      end

      # @param name [Object] that a client has sent
      # @return [Class]
      # @raise [Refused]
      # @private
      def channel_class(name)
        found = @channels ? @channels[name] : constant(name)
        if (signed_streams && name == StreamChannel::TURBO) ||
            ((signed_streams || public_streams) && name == StreamChannel::PUBSUB)
          found ||= StreamChannel
        end
        found || raise(Refused, "there is no channel #{name.inspect[0, 100]}")
      end

      # @private
      def opened(session)
        count(:accepted)
        @sessions[session] = true
        @heart.add(session.socket)
      end

      # @return [Array<Session>]
      # @private
      def sessions = @sessions.keys

      # @private
      def within_time(&block) = @timeout ? Pelton.timeout(@timeout, &block) : yield

      # @private
      def closed(session) = @sessions.delete(session)

      # @private
      def count(name) = @counts[name] += 1

      # Counts an error of the application, and reports it: the same one once in a while, as thousands of clients may
      # try again while a database is away.
      # @private
      def failed(error)
        count(:errors)
        place = [error.class, error.backtrace&.first]
        time, before = @errors[place]
        return @errors[place] = [time, before + 1] if time && Clock.now - time < REPEAT_EVERY
        @errors.clear if @errors.size >= MOST_ERRORS
        @errors[place] = [Clock.now, 0]
        Pelton.report_error(error,
          "a channel#{"; and #{before} times more since the last report" if before&.positive?}")
      end

      # Counts what was refused, and logs it: of each kind one in a while.
      # @private
      def refuse(name, what, every: REPORT_EVERY)
        count(name)
        time, logged = @reported[name]
        return if time && Clock.now - time < every
        before = @counts[name] - logged.to_i - 1
        Pelton.logger.warn("cable: #{what}#{"; and #{before} more since the last report" if before.positive?}")
        @reported[name] = [Clock.now, @counts[name]]
      end

      # @private
      def too_slow(socket)
        if socket.open?
          refuse(:slow, "closes a client that reads too slowly: #{socket.pending} bytes wait for it",
            every: REPEAT_EVERY)
        end
        socket.close(SLOW, "too slow")
      end

      # Messages for these sockets are lost: their clients come back, and ask for what they have missed, or load the
      # current state.
      # @private
      def gap(sockets)
        gone = sockets.to_h { |socket| [socket, true] }.compare_by_identity
        @sessions.keys.each do |session|
          next unless gone.key?(session.socket) && session.socket.open?
          count(:gaps)
          session.disconnect("messages_lost", true, code: SLOW, text: "messages are lost")
        end
      end

      private

      def foreign(env)
        refuse(:unauthorized, "pages of #{env["HTTP_ORIGIN"].inspect[0, 100]} may not connect: see origins:")
      end

      def constant(name)
        return unless name.is_a?(String) && CHANNEL.match?(name)
        found = Object.const_get(name)
        found if found.is_a?(Class) && found < Channel
      rescue NameError
        nil
      end
    end

    Metrics.add(Server::FAMILIES) { Server.stats }
  end
end
