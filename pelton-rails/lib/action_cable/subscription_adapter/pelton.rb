# frozen_string_literal: true

require "pelton/pubsub"
require "pelton/rails/cable/topics"

module ActionCable
  module SubscriptionAdapter
    # Broadcasts on Pelton::PubSub, which the workers of `pelton serve -w 2` have in common: `adapter: pelton` in
    # cable.yml. Other processes take part after {::Pelton::PubSub.join}.
    class Pelton < Base
      def initialize(...)
        super
        @subscriptions = {}.compare_by_identity
        @lock = Mutex.new
      end

      # @return [Pelton::PubSub]
      def topics = ::Pelton::PubSub.default

      # @param channel [String]
      # @return [String] its topic, with the prefix of cable.yml
      def topic(channel)
        ::Pelton::Rails::Cable::Topics.topic([server.config.cable[:channel_prefix], channel].compact.join(":"))
      end

      # @param channel [String]
      # @param payload [String]
      # @return [nil]
      def broadcast(channel, payload) = topics.publish(topic(channel), payload)

      # Calls the callback with each message, on the thread that has subscribed, which runs a reactor.
      #
      # @param callback [#call]
      # @param success_callback [#call, nil]
      def subscribe(channel, callback, success_callback = nil)
        subscription = topics.subscribe(topic(channel)) { |message| callback.call(message) }
        @lock.synchronize { @subscriptions[callback] = subscription }
        success_callback&.call
      end

      def unsubscribe(_channel, callback) = @lock.synchronize { @subscriptions.delete(callback) }&.close

      def shutdown = @lock.synchronize { @subscriptions.each_value(&:close).clear }
    end
  end
end
