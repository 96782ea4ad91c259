# frozen_string_literal: true

require_relative "../cable"

module Pelton
  module Cable
    # Helpers for tests of channels and connections, without a socket or a server: `require "pelton/cable/test"`. Errors
    # of a channel are raised in the test. Streams are topics of {PubSub.default}, as in the application.
    #
    #     class RoomChannelTest < Minitest::Test
    #       include Pelton::Cable::Test
    #
    #       def test_speaking
    #         subscription = subscribe(RoomChannel, {id: 7}, user: "ann")
    #         subscription.perform("speak", text: "hello")
    #
    #         assert_equal ["room:7"], subscription.streams
    #         assert_equal [{"text" => "hello"}], subscription.messages
    #       end
    #
    #       def test_posting
    #         assert_broadcasts("room:7", 1) { post "/messages", text: "hello" }
    #       end
    #     end
    module Test
      # Stands in for {Follower}.
      Followed = Struct.new(:texts, :name) { def stop = texts.delete(name) }
      private_constant :Followed

      # Stands in for {Session} and {Server}: what channels and connections call of them.
      # @private
      class Recorder
        attr_reader :sent, :subscriptions, :texts

        def initialize
          @sent = []
          @texts = []
          @subscriptions = {}
        end

        def server = self

        def streams = self

        def pubsub = PubSub.default

        # As {Streams#add}.
        def add(name, _channel, _session, block)
          @subscriptions[name] = [PubSub.subscribe(name), block]
          -> { @subscriptions.delete(name)&.first&.close }
        end

        # As {Session#follow}.
        def follow(_identifier, stream, _after)
          @texts << stream.name
          Followed.new(@texts, stream.name)
        end

        def transmit(text)
          @sent << JSON.parse(text)
          nil
        end

        def disconnect(_reason, _reconnect) = nil

        def presence = @presence ||= Presence.new(pubsub)

        def protect = yield

        def extended? = false

        # Moves what was broadcast to what was sent, by the streams' blocks if they have some.
        def deliver(envelope)
          @subscriptions.to_a.each do |_, (subscription, block)|
            while subscription.size > 0
              json = subscription.receive
              block ? block.call(JSON.parse(json)) : transmit(envelope.call(json))
            end
          end
        end
      end

      # A client's subscription.
      class Subscription
        # @return [Channel]
        attr_reader :channel

        # @private
        def initialize(recorder, channel, identifier)
          @recorder = recorder
          @channel = channel
          @identifier = identifier
          @confirmed = channel._subscribe
        rescue Refused => error
          @refusal = error.message
        end

        def confirmed? = !!@confirmed

        def rejected? = !@confirmed

        # @return [String, nil] why the last command was refused: for the log, as the client does not get it
        attr_reader :refusal

        # @return [Array<String>] without those that were stopped
        def streams = @recorder.subscriptions.keys

        # @return [Array<String>] the names of the texts that it follows, see {Channel#follow_stream}, without those
        #   that were stopped
        def texts = @recorder.texts

        # @return [Array<Object>] what the client was sent by this call, as JSON expresses it: broadcasts of its
        #   streams, and what the channel transmitted
        def messages
          @recorder.deliver(->(json) { Audience.envelope(@identifier, json) })
          @recorder.sent.map { |one| one["message"] }
        ensure
          @recorder.sent.clear
        end

        # Performs an action, as a client does.
        #
        # @return [self]
        # @asynchronous if the action waits
        def perform(action, data = {})
          @refusal = nil
          @channel._perform(JSON.parse(JSON.generate({action: action, **data})))
          self
        rescue Refused => error
          @refusal = error.message
          self
        end

        # @return [nil]
        # @asynchronous if the channel waits
        def unsubscribe = @channel._unsubscribe.then { nil }
      end

      # Subscribes to a channel.
      #
      # @param channel [Class]
      # @param params [Hash] of the subscription
      # @param identifiers [Hash{Symbol => Object}] of the connection; those that it does not have are added for this
      #   test
      # @param connection [Connection, nil] see {#connect}
      # @return [Subscription]
      # @asynchronous if the channel waits
      def subscribe(channel, params = {}, connection: nil, **identifiers)
        recorder = Recorder.new
        identifier = JSON.generate({channel: channel.name, **params})
        connection ||= unconnected(identifiers)
        parsed = JSON.parse(identifier, symbolize_names: true)
        Subscription.new(recorder, channel.new(recorder, connection, identifier, parsed), identifier)
      end

      # Lets a client in, or not, by the connection's `connect`.
      #
      # @param connection [Class]
      # @param cookies [Hash{String => String}]
      # @param session [Hash] of the session middleware
      # @param env [Hash] of Rack
      # @param arguments what the class takes besides, such as a Pelton::Web::Connection its application's settings
      # @return [Connection]
      # @raise [Connection::Unauthorized] it may not connect
      # @asynchronous if `connect` waits
      def connect(connection, *arguments, path: "/cable", cookies: {}, session: {}, env: {})
        header = cookies.map { |name, value| "#{name}=#{value}" }.join("; ")
        request = {"REQUEST_METHOD" => "GET", "PATH_INFO" => path, "QUERY_STRING" => "", "SCRIPT_NAME" => "",
                   "SERVER_NAME" => "localhost", "SERVER_PORT" => "80",
                   "HTTP_HOST" => "localhost", "rack.url_scheme" => "http", "rack.session" => session,
                   "HTTP_COOKIE" => header, **env}
        connection.new(Recorder.new, request, *arguments).tap(&:_connect)
      end

      # @return [Array<Object>] what the block broadcasts on a stream, as JSON expresses it
      def broadcasts(stream)
        subscription = PubSub.subscribe(stream)
        yield
        Array.new(subscription.size) { JSON.parse(subscription.receive) }
      ensure
        subscription&.close
      end

      # Fails unless the block broadcasts so many messages on a stream.
      #
      # @return [Array<Object>] see {#broadcasts}
      def assert_broadcasts(stream, count, &block)
        broadcasts(stream, &block).tap do |messages|
          assert_equal count, messages.size, "broadcasts on #{stream.inspect}: #{messages.inspect}"
        end
      end

      private

      def unconnected(identifiers)
        Connection.allocate.tap do |connection|
          identifiers.each { |name, value| connection.define_singleton_method(name) { value } }
        end
      end
    end
  end
end
