# frozen_string_literal: true

require "pelton/pubsub"
require "pelton/rails/cable/topics"

module ActionCable
  module SubscriptionAdapter
    # Broadcasts on Pelton::PubSub, which the workers of `pelton serve -w 2` have in common: `adapter: pelton` in
    # cable.yml. Other processes take part after {::Pelton::PubSub.join}.
    class Pelton < Base
      # Runs the subscriptions of threads that have no reactor: Rails' own server subscribes in such threads.
      class Listener
        def initialize
          @lock = Mutex.new
          @answers = [] # for which threads wait; nil when the listener has ended
          started = Queue.new
          @thread = Thread.new do
            ::Pelton.run do
              started << ::Pelton::Reactor.current
              sleep
            end
          ensure
            @lock.synchronize { @answers = @answers.each(&:close) && nil }
          end
          @thread.name = "pelton action cable"
          @reactor = started.pop
        end

        # @return [Boolean] a forked process has none of its parent's threads
        def alive? = @thread.alive?

        # Without a deadline: the thread answers in its next tick, or closes the answer when it ends.
        #
        # @return the block's value
        # @raise the block's error
        # @raise [Pelton::ClosedError] when the adapter shuts down meanwhile
        def call
          answer = Queue.new
          @lock.synchronize { @answers ? @answers << answer : refuse }
          @reactor.next_tick do
            answer << [yield, nil]
          rescue => error
            answer << [nil, error]
          end
          value, error = answer.pop || refuse
          error ? raise(error) : value
        ensure
          @lock.synchronize { @answers&.delete(answer) }
        end

        def stop = @reactor.stop

        private

        def refuse = raise(::Pelton::ClosedError, "Action Cable's adapter was shut down")
      end
      private_constant :Listener

      # @param server [ActionCable::Server::Base] which Rails 8.2 does not keep
      def initialize(server)
        super
        @prefix = server.config.cable[:channel_prefix]
        @subscriptions = {}.compare_by_identity
        @lock = Mutex.new
      end

      # @return [Pelton::PubSub]
      def topics = ::Pelton::PubSub.default

      # @param channel [String]
      # @return [String] its topic, with the prefix of cable.yml
      def topic(channel) = ::Pelton::Rails::Cable::Topics.topic([@prefix, channel].compact.join(":"))

      # @param channel [String]
      # @param payload [String]
      # @return [nil]
      def broadcast(channel, payload) = topics.publish(topic(channel), payload)

      # Calls the callback with each message, on the thread that has subscribed if it runs a reactor, or on a thread for
      # all that do not.
      #
      # @param callback [#call]
      # @param success_callback [#call, nil]
      def subscribe(channel, callback, success_callback = nil)
        subscribing = -> { topics.subscribe(topic(channel)) { |message| callback.call(message) } }
        subscription = ::Pelton::Reactor.running? ? subscribing.call : listener.call(&subscribing)
        @lock.synchronize { @subscriptions[callback] = subscription }
        success_callback&.call
      end

      def unsubscribe(_channel, callback) = @lock.synchronize { @subscriptions.delete(callback) }&.close

      def shutdown
        @lock.synchronize do
          @subscriptions.each_value(&:close).clear
          @listener&.stop
          @listener = nil
        end
      end

      private

      def listener
        @lock.synchronize do
          @listener = nil unless @listener&.alive?
          @listener ||= Listener.new
        end
      end
    end
  end
end
