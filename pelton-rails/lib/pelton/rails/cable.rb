# frozen_string_literal: true

require "action_cable"
require "pelton/cable"
require_relative "cable/topics"
require_relative "cable/versions"

module Pelton
  module Rails
    # Serves Action Cable's connections and channels by {Pelton::Cable}, where Pelton's HTTP server serves the
    # application: one object for each `ActionCable.server` and each thread that serves.
    class Cable
      # @return [Pelton::Cable::Server]
      attr_reader :cable

      # @return [Topics]
      attr_reader :topics

      class << self
        # @return [#cable_callbacks, #cable_limits] the application's `config.pelton`
        attr_reader :settings

        # @param settings [#cable_callbacks, #cable_limits] `config.pelton`, whose values count from the first
        #   connection on
        # @return [Boolean] false: this version of Action Cable is not supported
        def install(settings)
          @settings = settings
          return false unless supported?
          require_relative "cable/action_cable" # refers to classes that other versions lack
          ActionCable.install
          true
        end

        # Where streams are now, for a page that shows their state: see {Pelton::Cable.position}. Only `adapter: pelton`
        # has positions.
        #
        # @example in a view
        #   <%= turbo_stream_from @room, :messages, data: {position: Pelton::Rails::Cable.position([@room, :messages])}
        #   %>
        # @param streams [Array<String, Object, Array>] names, models, or several of them, as `turbo_stream_from` names
        #   a stream
        # @return [String] JSON
        def position(*streams)
          adapter = ::ActionCable.server.pubsub
          return "{}" unless adapter.respond_to?(:topic)
          names = streams.map { |stream| stream_name(stream) }
          Pelton::Cable::Position.of(names.to_h { |name| [name, adapter.topic(name)] }, adapter.topics)
        end

        private

        def stream_name(stream)
          stream.is_a?(Array) ? stream.map { |part| stream_name(part) }.join(":") : stream.try(:to_gid_param) ||
            stream.to_param
        end
      end

      # @param server [ActionCable::Server::Base]
      def initialize(server)
        @server = server
        @reactor = Reactor.current
        @topics = Topics.new(server)
        settings = Cable.settings
        @cable =
          Pelton::Cable::Server.new(pubsub: @topics, connecting: settings.cable_callbacks, **settings.cable_limits)
        @cable.streams.observer = method(:transmitted)
      end

      # @return [Boolean] whether this thread serves
      def here? = @reactor.equal?(Reactor.current)

      # Calls the block on the thread that serves: at once if this is it.
      def call(&block)
        here? ? block.call : later(&block)
        nil
      end

      # Calls the block on the thread that serves, in the next tick.
      def later(&block)
        @reactor.next_tick(&block)
      rescue ClosedError
        nil # it has ended
      end

      # @return [Array<ActionCable::Connection::Base>]
      def connections = @cable.sessions.map(&:connection)

      # Logs and instruments once for each identifier what Rails' channels would for each socket.
      def transmitted(stream, identifier, json, sockets)
        notified = ActiveSupport::Notifications.notifier.listening?("transmit.action_cable")
        return unless notified || @server.logger.debug?
        channel = JSON.parse(identifier)["channel"]
        data = JSON.parse(json)
        via = "streamed from #{stream}"
        @server.logger.debug do
          "#{channel} transmitting #{data.inspect.truncate(300)} (via #{via}) to #{sockets} sockets"
        end
        if notified
          ActiveSupport::Notifications.instrument("transmit.action_cable", channel_class: channel, data: data,
            via: via, sockets: sockets)
        end
      rescue JSON::ParserError
        @server.logger.error("A message of #{stream} is no JSON")
      end

      # Ends the streams and timers of all channels, whose classes will be unloaded.
      def release = @cable.sessions.each { |session| session.subscriptions.release }
    end
  end
end
