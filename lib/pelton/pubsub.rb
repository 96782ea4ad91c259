# frozen_string_literal: true

require_relative "../pelton"
require_relative "metrics"
require_relative "pubsub/link"
require_relative "pubsub/subscription"
require_relative "pubsub/topics"

module Pelton
  # Topics: what is published on one goes to all who have subscribed to it, from any fiber and any thread, and in one
  # order.
  #
  # Publishing never waits. Each subscriber has a bounded queue of its own, and a policy for when it is too slow. A
  # topic may keep its last messages ({#keep}), for those who come back. `Pelton::PubSub.publish`, `subscribe` and so on
  # use {PubSub.default}: the workers of `pelton serve -w 2` have its topics in common.
  #
  # @example
  #   Pelton::PubSub.subscribe("news") { |message| puts message }
  #   Pelton::PubSub.publish("news", "hello")
  class PubSub
    include Opaque

    # Bytes of a topic's name.
    MOST_TOPIC = 1024
    # Bytes of a message.
    MOST_MESSAGE = 16 << 20
    # What each subscription may count, for Prometheus.
    FAMILIES = {
      "pubsub_subscriptions" => Metrics::Family.new("gauge", "pelton_pubsub_subscriptions", "Subscriptions."),
      "pubsub_published" => Metrics::Family.new("counter", "pelton_pubsub_published_total",
        "Messages that this process has published."),
      "pubsub_received" => Metrics::Family.new("counter", "pelton_pubsub_received_total",
        "Messages of subscribed topics, its own among them."),
      "pubsub_dropped" => Metrics::Family.new("counter", "pelton_pubsub_dropped_total",
        "Messages that a slow subscriber did not get."),
      "pubsub_returns" => Metrics::Family.new("counter", "pelton_pubsub_returns_total",
        "Times that the connection with the other processes was cut and came back."),
      "pubsub_kept_bytes" => Metrics::Family.new("gauge", "pelton_pubsub_kept_bytes",
        "Bytes of the messages that are kept for those who come back.")
    }.freeze
    # Seconds between two lines about lost messages.
    WARN_EVERY = 60
    private_constant :MOST_TOPIC, :MOST_MESSAGE, :WARN_EVERY

    class << self
      # @return [PubSub] this process's
      def default = @default ||= new

      # (see #publish)
      def publish(topic, message) = default.publish(topic, message)

      # (see #subscribe)
      def subscribe(topic, **options, &block) = default.subscribe(topic, **options, &block)

      # (see #keep)
      def keep(pattern, **options) = default.keep(pattern, **options)

      # (see #position)
      def position(topic) = default.position(topic)

      # (see #stats)
      def stats = default.stats
    end

    # @param kept_bytes [Integer] bytes of all messages that are kept; beyond it the oldest are dropped
    def initialize(kept_bytes: 64 << 20)
      @topics = Topics.new(kept_bytes: kept_bytes)
      @runs = {}.compare_by_identity # reactors in whose run something has subscribed with a block
      @published = @dropped = 0
    end

    # Publishes a message. It is on its way when the call returns: the call does not wait.
    #
    # @param topic [String]
    # @param message [String] binary, or text, which arrives as UTF-8
    # @return [nil]
    # @raise [TypeError] one of them is no String
    # @raise [ArgumentError] the topic has more than 1,024 bytes, the message more than 16 MB, or the text is invalid in
    #   its encoding
    # @raise [OverloadError] between processes: 4 MB wait already, because the master process or the server does not
    #   take them
    def publish(topic, message)
      message = checked(topic, message)
      event = Notifications.start("publish.pubsub") { {topic: topic, bytes: message.bytesize} }
      rule = @topics.rule(topic)
      @published += 1
      @engine ? @engine.publish(topic, message, rule) : _deliver(topic, message, rule)
      event&.finish
      nil
    end

    # Subscribes to a topic.
    #
    # With a block: it is called with each message, one after the other, in callbacks of this thread's reactor. It may
    # wait, and only its own subscription waits. Without: the subscription is a queue, see {Subscription#receive} and
    # {Subscription#each}.
    #
    # @param topic [String]
    # @param after [String, nil] the {Subscription#position} of the last message that was seen: the kept messages since
    #   come first
    # @param max_bytes [Integer] bytes that may wait for the subscriber; each message counts 100 more
    # @param slow [:close, :drop, #call] for a message beyond them. `:close`: the subscription ends, with
    #   {OverloadError}. `:drop`: it misses this message. A callable is called with the subscription and the message
    # @yieldparam message [String] frozen
    # @yieldparam position [String, nil] see {Subscription#position}
    # @return [Subscription]
    # @raise [NotRunningError] with a block, where no reactor runs on this thread
    # @raise [ArgumentError] the policy or the topic is invalid
    # @raise [TypeError] the topic is no String
    def subscribe(topic, after: nil, max_bytes: Subscription::MAX_BYTES, slow: :close, &block)
      Reactor.require_running("PubSub#subscribe with a block") if block
      add(Subscription.new(@topics, checked_topic(topic), max_bytes: max_bytes, slow: slow, block: block), after)
    end

    # Subscribes something that passes messages on, and must know when some are lost.
    #
    # @param direct [Boolean] whether the block takes each message at once and never waits: where publisher and
    #   subscriber share a thread, it is called inside {#publish}
    # @param gap [#call] is called on the subscriber's thread instead of what was lost, before any later message:
    #   because threads published faster than their messages were taken, or because the other processes could not be
    #   reached
    # @return [Subscription]
    # @private
    def attach(topic, direct: true, gap: nil, max_bytes: Subscription::ATTACHED, &block)
      Reactor.require_running("PubSub#subscribe")
      add(Subscription.new(@topics, checked_topic(topic), max_bytes: max_bytes, slow: :gap, block: block,
        direct: direct, gap: gap || -> {}))
    end

    # Lets topics keep their last messages. If several rules match a topic, the last one applies.
    #
    # @param pattern [String, Regexp] of the topics
    # @param messages [Integer] how many; 0: none
    # @param seconds [Numeric] for how long
    # @return [self]
    # @raise [ArgumentError]
    def keep(pattern, messages: 100, seconds: 300)
      unless messages.is_a?(Integer) && messages >= 0 && seconds.positive?
        raise ArgumentError, "messages must be 0 or more, and seconds more than 0"
      end
      @topics.keep(pattern, History::Rule.new(messages, seconds))
      self
    end

    # Where a topic is now, for `after:` of {#subscribe}, also in another process: for a page that shows a state and
    # subscribes later. Ask before the state is read.
    #
    # @param topic [String]
    # @return [String, nil] nil: the topic keeps no messages
    def position(topic)
      @topics.position(topic, epoch) if @topics.rule(checked_topic(topic))
    end

    # @return [Hash{Symbol => Integer}] `topics` and `subscriptions` now; counters: messages `published`, `received` on
    #   subscribed topics, and `dropped` for slow subscribers, and how often the connection with the other processes
    #   `returns`; `kept` messages and `kept_bytes` now
    def stats
      {topics: @topics.size, subscriptions: @topics.subscriptions, published: @published, received: @topics.received,
       dropped: @dropped,
       returns: @engine ? @engine.returns : 0, kept: @topics.kept, kept_bytes: @topics.kept_bytes}
    end

    # Hands a message to the subscribers. The engine calls it, with the position that the message has everywhere.
    #
    # @param position [String, nil] nil: no message of the topic is kept, or this process numbers by itself
    # @param kept [Boolean] whether it is for the history alone
    # @param age [Numeric] seconds since it was published
    # @private
    def _deliver(topic, message, rule, position = nil, kept: false, age: 0)
      now, slow, position = @topics.deliver(topic, message, rule, position, kept, age)
      now&.each { |subscription| subscription._call(message, position) }
      slow&.each { |subscription| too_slow(subscription, message) }
    end

    # Tells the subscribers of topics that messages are lost.
    #
    # @param topics [Array<String>, nil] nil: all
    # @private
    def _lost(topics = nil) = @topics.lose(topics)

    # The kept messages of a topic after a position, for somebody who has subscribed already.
    #
    # @return [Array(Array<Array(String, String)>, Boolean)] messages with their positions; and whether none is missing
    # @private
    def since(topic, position) = @topics.since(topic, position, epoch)

    # The kept messages of the last seconds: see {#since}.
    #
    # @private
    def recent(topic, seconds) = @topics.recent(topic, seconds)

    # @return [#publish, nil] carries messages between processes
    # @private
    attr_accessor :engine

    # Joins other processes: those of a {Hub}, or of a server. It returns when this process has what is kept there, or
    # after 5 seconds.
    #
    # @param place [String] the path of the hub's socket, or the URL of a Redis or a PostgreSQL
    # @return [Link, Carrier]
    # @raise [LoadError] the gem `redis-client` or `pg` is missing
    # @private
    # @asynchronous
    def join(place, **options)
      @joined = Process.pid
      @engine = engine_class(place).new(self, place, **options)
      @engine.await_ready(timeout: 5)
      @engine
    rescue TimeoutError
      Pelton.logger.warn("pubsub: the other processes cannot be reached yet")
      @engine
    end

    # Whether this process, and not one that it was forked from, has joined others.
    # @private
    def _joined? = @joined == Process.pid

    # Waits until what was published is on its way.
    # @private
    def _part(timeout) = @engine.drain(timeout: timeout)

    private

    def engine_class(place)
      case place
      when /\Aredis/
        require_relative "pubsub/redis"
        Redis
      when /\Apostgres/
        require_relative "pubsub/postgresql"
        PostgreSQL
      else Link
      end
    end

    # Of whoever numbers the messages.
    def epoch = @engine ? @engine.epoch.to_s : @topics.epoch

    # A subscription with a block ends with the run of its reactor, which may run again.
    def end_with_run(reactor)
      return if @runs.key?(reactor)
      @runs[reactor] = true
      Pelton.spawn(name: "pubsub's subscriptions", transient: true, detached: true) do
        sleep
      ensure
        @runs.delete(reactor)
        @topics.all.select { |subscription| subscription._of?(reactor) }.each(&:close)
      end
    end

    def add(subscription, after = nil)
      end_with_run(Reactor.current) if subscription._of?(Reactor.current)
      @topics.add(subscription, after, epoch)
      subscription
    end

    def checked(topic, message)
      checked_topic(topic)
      raise TypeError, "a message must be a String, not #{message.inspect}" unless message.is_a?(String)
      if message.bytesize > MOST_MESSAGE
        raise ArgumentError, "a message of #{message.bytesize} bytes: #{MOST_MESSAGE} are the most"
      end
      return -message if message.encoding == Encoding::BINARY
      message = message.encode(Encoding::UTF_8) unless message.encoding == Encoding::UTF_8
      unless message.valid_encoding?
        raise ArgumentError, "the text is not valid #{message.encoding}: publish other bytes as a binary String"
      end
      message.frozen? ? message : message.dup.freeze
    end

    def checked_topic(topic)
      raise TypeError, "a topic must be a String, not #{topic.inspect}" unless topic.is_a?(String)
      raise ArgumentError, "a topic has 1 to #{MOST_TOPIC} bytes" unless topic.bytesize.between?(1, MOST_TOPIC)
      topic
    end

    def too_slow(subscription, message)
      @dropped += 1
      if subscription._attached? && (@warned.nil? || Clock.now - @warned >= WARN_EVERY)
        @warned = Clock.now
        Pelton.logger.warn("pubsub: messages on #{subscription.topic.inspect[0, 100]} are published faster than they " \
          "are taken: its clients are told to come back")
      end
      Notifications.instrument("overflow.pubsub", topic: subscription.topic, subscription: subscription) do
        subscription._overflow(message)
      end
    end
  end

  Metrics.add(PubSub::FAMILIES) do
    stats = PubSub.stats
    PubSub::FAMILIES.keys.to_h { |name| [name, stats.fetch(name.delete_prefix("pubsub_").to_sym)] }
  end
end

require_relative "pubsub/home"
