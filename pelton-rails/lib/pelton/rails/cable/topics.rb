# frozen_string_literal: true

require "openssl"

module Pelton
  module Rails
    class Cable
      # The streams of an application's adapter (cable.yml) as topics. The adapter has one subscriber for each stream,
      # whatever the number of sockets: what it delivers, on whatever thread, is published in this process.
      class Topics
        # Bytes of a name that a topic may have.
        LONGEST = 1024
        private_constant :LONGEST

        class << self
          # @param name [String] of a stream
          # @return [String] of a topic
          def topic(name) = (name.bytesize > LONGEST) ? OpenSSL::Digest::SHA256.hexdigest(name) : name
        end

        # A subscription of a stream to the adapter.
        class Feed
          def initialize(adapter, name, pubsub)
            @adapter = adapter
            @name = name
            @waiting = []
            @users = 0
            topic = Topics.topic(name)
            @callback = lambda do |message|
              message = message.dup.force_encoding(Encoding::UTF_8) unless message.encoding == Encoding::UTF_8
              pubsub.publish(topic, message)
            rescue ArgumentError, TypeError => error
              Pelton.report_error(error, "a message of Action Cable")
            end
          end

          def start(cable) = @adapter.subscribe(@name, @callback, -> { cable.event_loop.post { confirmed } })

          def confirmed
            @confirmed = true
            @waiting.shift.call until @waiting.empty?
          end

          def ready(&block) = @confirmed ? block.call : @waiting << block

          def enter = @users += 1

          # @return [Boolean] whether it was the last one
          def leave
            return false unless (@users -= 1) == 0
            @adapter.unsubscribe(@name, @callback)
            true
          rescue => error # the adapter's server may be gone
            Pelton.report_error(error, "the end of a stream of Action Cable")
            true
          end
        end
        private_constant :Feed

        # What ends a subscription.
        End = Struct.new(:topics, :name, :subscription) do
          include Opaque

          def size = subscription.size

          def close
            subscription.close
            topics.leave(name)
          end
        end
        private_constant :End

        # @param server [ActionCable::Server::Base]
        def initialize(server)
          @server = server
          @pubsub = PubSub.new
          @feeds = {}
        end

        # See PubSub#attach.
        # @asynchronous if the adapter's subscribe is
        def attach(name, **options, &block) = enter(name) { |pubsub, topic| pubsub.attach(topic, **options, &block) }

        # See PubSub#since. Messages have positions with the adapter pelton.
        def since(name, position) = kept(name) { |pubsub, topic| pubsub.since(topic, position) }

        # See PubSub#recent.
        def recent(name, seconds) = kept(name) { |pubsub, topic| pubsub.recent(topic, seconds) }

        # Sends a message to all subscribers, in the adapter's way.
        def publish(name, message) = @server.pubsub.broadcast(name, message)

        # Calls the block once the adapter has confirmed a stream that has subscriptions.
        def ready(name, &block)
          feed = @feeds[name]
          feed ? feed.ready(&block) : block.call
        end

        # @private
        def leave(name)
          feed = @feeds[name]
          @feeds.delete(name) if feed&.leave
        end

        private

        def kept(name)
          adapter = @server.pubsub
          adapter.respond_to?(:topic) ? yield(adapter.topics, adapter.topic(name)) : yield(@pubsub, Topics.topic(name))
        end

        def enter(name)
          adapter = @server.pubsub
          # Its streams are topics already
          return yield(adapter.topics, adapter.topic(name)) if adapter.respond_to?(:topic)
          subscription = yield @pubsub, Topics.topic(name)
          feed = @feeds[name]
          fresh = @feeds[name] = feed = Feed.new(adapter, name, @pubsub) unless feed
          feed.enter
          fresh&.start(@server)
          End.new(self, name, subscription)
        rescue
          subscription&.close
          @feeds.delete(name) if fresh
          raise
        end
      end
    end
  end
end
