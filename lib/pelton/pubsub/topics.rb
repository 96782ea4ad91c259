# frozen_string_literal: true

require_relative "history"

module Pelton
  class PubSub
    # The topics of a process: their subscriptions, and the messages that are kept. Its lock gives all subscribers of a
    # topic its messages in one order, with no gap between what is kept and what comes next.
    # @private
    class Topics
      # Seconds that the clocks of two machines may differ.
      SKEW = 2
      private_constant :SKEW

      # @return [Integer] messages of subscribed topics
      attr_reader :received

      # @param kept_bytes [Integer] bytes of all messages that are kept
      def initialize(kept_bytes:)
        @lock = Mutex.new
        @history = History.new(bytes: kept_bytes)
        @subscriptions = {} # by topic; a list is replaced, never changed
        @rules = {}
        @received = 0
      end

      # @return [Integer] topics that have subscriptions
      def size = @subscriptions.size

      # @return [Integer]
      def subscriptions = @subscriptions.sum { |_, list| list.size }

      # @return [Integer] messages
      def kept = @history.size

      # @return [Integer]
      def kept_bytes = @history.bytes

      # @return [String] of this process, as the one who numbers
      def epoch = @history.epoch

      # @return [Array<Subscription>] of all topics
      def all = @lock.synchronize { @subscriptions.values.flatten }

      # @param rule [History::Rule]
      def keep(pattern, rule)
        @lock.synchronize { @rules = {pattern => rule}.merge(@rules.except(pattern)) }
      end

      # If several rules match, the last one applies.
      #
      # @return [History::Rule, nil] nil: the topic keeps nothing
      def rule(topic)
        rule = @rules.find { |pattern, _| pattern === topic }&.last unless @rules.empty?
        rule if rule&.messages&.positive?
      end

      # Keeps a message, and puts it into the mailboxes of the topic's subscriptions.
      #
      # @param position [String, nil] nil: this process numbers
      # @param kept [Boolean] whether it is for the history alone
      # @return [Array(Array, Array, String), nil] the subscriptions that the caller must call at once, those that are
      #   too slow, and the position; nil for lists without any
      def deliver(topic, message, rule, position, kept, age)
        now, slow, closed = nil
        @lock.synchronize do
          position = keep_message(topic, message, rule, position, age) if rule
          return if kept
          @subscriptions[topic]&.each do |subscription|
            case subscription._put(message, position)
            when :now then (now ||= []) << subscription
            when :slow then (slow ||= []) << subscription
            when :closed then (closed ||= []) << subscription
            end
          end && @received += 1
          closed&.each { |subscription| delete(subscription) }
        end
        [now, slow, position] if now || slow
      end

      # Messages of these topics are lost; nil: of all.
      def lose(topics)
        @lock.synchronize do
          (topics ? @subscriptions.values_at(*topics).compact : @subscriptions.values).each do |list|
            list.each(&:_lose)
          end
        end
      end

      # The last message's position; of a topic without messages, this moment.
      #
      # @param epoch [String] of whoever numbers
      def position(topic, epoch) = @lock.synchronize { @history.last(topic) || History.moment(epoch) }

      # The kept messages after a position.
      #
      # @return [Array(Array<Array(String, String)>, Boolean)] messages with their positions; and whether none is
      #   missing
      def since(topic, position, epoch) = @lock.synchronize { kept_since(topic, position, epoch) }

      # The kept messages of the last seconds: see {#since}.
      def recent(topic, seconds) = @lock.synchronize { @history.recent(topic, seconds) }

      # @param after [String, nil] the position of the last message that was seen
      def add(subscription, after, epoch)
        topic = subscription.topic
        @lock.synchronize do
          @subscriptions[topic] = [*@subscriptions[topic], subscription]
          if after
            subscription._resume(after, *kept_since(topic, after, epoch))
          else
            subscription._begin(@history.last(topic))
          end
        end
      end

      def remove(subscription) = @lock.synchronize { delete(subscription) }

      private

      # @return [String] its position
      def keep_message(topic, message, rule, position, age)
        return @history.append(topic, message, rule) unless position
        @history.insert(topic, message, position, rule, age: age)
      end

      def delete(subscription)
        list = @subscriptions[subscription.topic]&.reject { |one| one.equal?(subscription) } or return
        list.empty? ? @subscriptions.delete(subscription.topic) : @subscriptions[subscription.topic] = list
      end

      def kept_since(topic, position, epoch)
        of, seconds = History.age(position)
        return @history.since(topic, position) unless of
        rule = rule(topic)
        known = rule && seconds <= rule.seconds && [epoch, ""].include?(of)
        known ? @history.recent(topic, seconds + SKEW) : [[], false]
      end
    end
  end
end
