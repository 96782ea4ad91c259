# frozen_string_literal: true

require "securerandom"

module Pelton
  class PubSub
    # The last messages of topics, with numbers: within an *epoch*, which is a life of whoever numbers, a topic's
    # messages have consecutive *offsets* from 1 on. A position is both: "epoch:offset". Bounded by messages and seconds
    # for each topic, and by bytes for all. It has no lock: its owner has.
    # @private
    class History
      # @!attribute messages [Integer] that a topic keeps
      # @!attribute seconds [Numeric] that a message is kept
      Rule = Struct.new(:messages, :seconds)

      # `first` is the offset of the first entry of `entries`; an entry is [message, time, mark].
      Topic = Struct.new(:epoch, :first, :entries, :rule) do
        def last = first + entries.size - 1
      end

      # Bytes that each message, and each topic, counts beyond its own.
      OVERHEAD = 200
      # Seconds between two searches for topics whose messages are too old.
      SWEEP = 10
      private_constant :OVERHEAD, :SWEEP, :Topic

      # @return [Integer] bytes of all messages
      attr_reader :bytes

      # @return [Integer] messages
      attr_reader :size

      # @return [Integer] the highest offset of a topic that was dropped: numbers never come twice in an epoch
      attr_reader :forgotten

      # @param epoch [String, nil] of a history that goes on, with its `forgotten`
      def initialize(bytes:, epoch: nil, forgotten: 0)
        @limit = bytes
        @epoch = epoch
        @topics = {} # the one that was written last at the end
        @bytes = @size = 0
        @forgotten = forgotten
        @swept = Clock.now
        @lost = nil # when messages were dropped that should have been kept
      end

      # @return [String] of this process, as the one who numbers
      def epoch = @epoch ||= SecureRandom.alphanumeric(8)

      # Numbers a message, and keeps it.
      #
      # @param mark [Object] that {#each} yields with it
      # @return [String] its position
      def append(topic, message, rule, mark = nil)
        present = @topics[topic]
        offset = ((present && present.epoch == epoch) ? present.last : @forgotten) + 1
        put(topic, epoch, offset, message, rule, mark)
        "#{epoch}:#{offset}"
      end

      # Keeps a message that has a number.
      #
      # @param position [String]
      # @param age [Numeric] seconds since it was published
      # @return [String] the position
      def insert(topic, message, position, rule, mark = nil, age: 0)
        epoch, offset = History.parse(position)
        present = @topics[topic]
        # It came twice, by a link that was cut
        return position if present && present.epoch == epoch && offset <= present.last
        put(topic, epoch, offset, message, rule, mark, Clock.now - age)
        position
      end

      # The messages after a position.
      #
      # @return [Array(Array<Array(String, String)>, Boolean)] messages with their positions; and whether none is
      #   missing
      def since(topic, position)
        epoch, offset = History.parse(position)
        present = @topics[topic]
        expire(present) if present
        return [[], false] unless present && epoch == present.epoch && offset.between?(present.first - 1, present.last)
        entries = present.entries.drop(offset + 1 - present.first)
        [entries.each_with_index.map { |(message, _), index| [message, "#{epoch}:#{offset + 1 + index}"] }, true]
      end

      # The messages of the last seconds, for somebody who has no position.
      #
      # @param seconds [Numeric]
      # @return [Array(Array<Array(String, String)>, Boolean)] see {#since}
      def recent(topic, seconds)
        time = Clock.now - seconds
        present = @topics[topic] or return [[], @lost.nil? || @lost < time]
        expire(present)
        first = present.entries.index { |_, at| at >= time } || present.entries.size
        full = present.entries.size >= present.rule.messages || seconds > present.rule.seconds
        entries = present.entries.drop(first)
        [entries.each_with_index
          .map { |(message, _), index| [message, "#{present.epoch}:#{present.first + first + index}"] },
          first.positive? || !full]
      end

      # @return [String, nil] the position of a topic's last message; nil: none is known
      def last(topic) = (present = @topics[topic]) && "#{present.epoch}:#{present.last}"

      # Yields each message that is kept.
      #
      # @yieldparam topic [String]
      # @yieldparam message [String]
      # @yieldparam position [String]
      # @yieldparam rule [Rule]
      # @yieldparam mark [Object]
      # @yieldparam age [Float] seconds
      def each
        now = Clock.now
        @topics.each do |name, topic|
          topic.entries.each_with_index do |(message, time, mark), index|
            yield name, message, "#{topic.epoch}:#{topic.first + index}", topic.rule, mark, now - time
          end
        end
      end

      # @return [Array(String, Integer)] epoch and offset; the offset of what is no position is -1
      def self.parse(position)
        epoch, offset = position.to_s.split(":", 2)
        [epoch, offset&.match?(/\A\d{1,15}\z/) ? offset.to_i : -1]
      end

      # The position of a topic without messages: a moment.
      #
      # @return [String]
      def self.moment(epoch) = "#{epoch}:@#{(Time.now.to_f * 1000).to_i}"

      # @return [Array(String, Float), nil] epoch and seconds since a moment; nil: the position is none
      def self.age(position)
        epoch, time = position.to_s.split(":@", 2)
        [epoch, Time.now.to_f - Integer(time, 10) / 1000.0] if time&.match?(/\A\d{1,15}\z/)
      end

      private

      def put(name, epoch, offset, message, rule, mark, time = Clock.now)
        sweep
        topic = @topics.delete(name)
        topic = forget(name, topic) if topic && (topic.epoch != epoch || offset != topic.last + 1)
        unless topic
          topic = Topic.new(epoch, offset, [])
          @bytes += name.bytesize + OVERHEAD
        end
        @topics[name] = topic
        topic.rule = rule
        topic.entries << [message, time, mark]
        @size += 1
        @bytes += message.bytesize + OVERHEAD
        expire(topic)
        shrink
      end

      # Takes away what is too old, or one too many.
      def expire(topic)
        rule = topic.rule
        oldest = Clock.now - rule.seconds
        shift(topic) while topic.entries.size > rule.messages || topic.entries.any? && topic.entries.first[1] < oldest
      end

      def shift(topic)
        message, = topic.entries.shift
        topic.first += 1
        @size -= 1
        @bytes -= message.bytesize + OVERHEAD
      end

      # Drops the topics that have been quiet for longest, and of the only one its oldest messages.
      def shrink
        while @bytes > @limit
          name, topic = @topics.first
          if @topics.size > 1
            forget(name, @topics.delete(name))
          else
            break if topic.entries.empty?
            shift(topic)
          end
        end
      end

      # @return [nil]
      def forget(name, topic)
        @lost = Clock.now if topic.entries.any?
        shift(topic) while topic.entries.any?
        @bytes -= name.bytesize + OVERHEAD
        @forgotten = topic.last if topic.epoch == @epoch && topic.last > @forgotten
        nil
      end

      # Removes the messages of topics that get no more messages.
      def sweep
        return if Clock.now - @swept < SWEEP
        @swept = Clock.now
        @topics.each_value { |topic| expire(topic) }
        @topics.select { |_, topic| topic.entries.empty? }.each { |name, topic| forget(name, @topics.delete(name)) }
      end
    end
  end
end
