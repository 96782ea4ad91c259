# frozen_string_literal: true

require_relative "mailbox"

module Pelton
  class PubSub
    # What waits for one subscriber of a topic. Made by {PubSub#subscribe}.
    class Subscription
      include Opaque

      # Bytes that may wait for a subscriber.
      MAX_BYTES = 1 << 20
      # And for what passes messages on to others.
      ATTACHED = 16 << 20
      # Seconds of messages after which others get a turn.
      BUDGET = 0.001
      private_constant :BUDGET

      # @return [String]
      attr_reader :topic

      # @return [String, nil] of the message that was given out last, or of the topic when the subscription began: for
      #   `after:` of {PubSub#subscribe}. nil: the topic keeps none
      attr_reader :position

      # @private
      def initialize(topics, topic, max_bytes:, slow:, block:, direct: false, gap: nil)
        unless gap || %i[close drop].include?(slow) || slow.respond_to?(:call)
          raise ArgumentError, "slow: must be :close, :drop or callable, not #{slow.inspect}"
        end
        @topics = topics
        @topic = topic
        @slow = slow
        @block = block
        @direct = direct
        @on_gap = gap
        @reactor = Reactor.current if block
        @thread = Thread.current
        @dropped = 0
        @mailbox = Mailbox.new(max_bytes, tells_losses: !gap.nil?, due: (-> { @reactor.next_tick { drain } } if block))
      end

      # Whether messages are missing: between `after:` and the first one, as they are not kept any more, or later,
      # because the other processes could not be reached.
      def gap? = !!@gap

      # Whether its block is called by a reactor.
      # @private
      def _of?(reactor) = !@reactor.nil? && @reactor.equal?(reactor)

      # Whether it passes messages on: see PubSub#attach.
      # @private
      def _attached? = !!@on_gap

      # @return [Boolean]
      def closed? = @mailbox.closed?

      # @return [Integer] messages that wait for the subscriber
      def size = @mailbox.size

      # @return [Integer] messages that it missed because it was slow
      attr_reader :dropped

      # Receives the next message.
      #
      # @param timeout [Numeric, nil] seconds
      # @return [String, nil] frozen; nil when the subscription is closed
      # @raise [OverloadError] the subscriber was too slow, and its policy is to end then
      # @raise [TimeoutError] no message has come in time
      # @raise [Error] the messages go to a block
      # @asynchronous
      def receive(timeout: nil)
        raise Error, "the messages of this subscription go to its block" if @block
        limit = Clock.now + timeout if timeout
        until (message = take)
          raise @error if @error
          return if closed?
          @mailbox.wait(limit && Clock.left(limit))
        end
        message
      end

      # Yields each message until the subscription is closed. It is closed when the block is left, in whatever way.
      #
      # @yieldparam message [String] frozen
      # @yieldparam position [String, nil]
      # @return [self]
      # @raise [OverloadError] as {#receive}
      # @asynchronous
      def each
        while (message = receive)
          yield message, @position
        end
        self
      ensure
        close
      end

      # Ends the subscription. What waits in a queue may still be received; a block is not called any more. Any thread
      # may call it.
      #
      # @return [nil]
      def close
        @topics.remove(self) if @mailbox.close
        nil
      end

      def inspect = "#<#{self.class.name} #{@topic.inspect}#{" closed" if closed?} #{size} waiting>"

      # Called under the lock of the topics.
      #
      # @return [:now, :slow, :closed, nil] now: the caller must call {#_call} when it has left the lock
      # @private
      def _put(message, position)
        return :now if @direct && @thread.equal?(Thread.current) && @mailbox.idle?
        @mailbox.put(message, position)
      end

      # @private
      def _call(message, position)
        @position = position
        @block.call(message, position)
      rescue => error
        Pelton.report_error(error)
      end

      # Messages are lost before any later one.
      # @private
      def _lose
        @gap = true
        @mailbox.lose
      end

      # Called before any message comes.
      # @private
      def _begin(position) = @position = position

      # Called before any message comes.
      # @private
      def _resume(position, messages, complete)
        @position = position if complete
        @gap = !complete
        @mailbox.fill(messages)
      end

      # @private
      def _overflow(message)
        @dropped += 1
        case @slow
        when :close then overflow
        when :drop, :gap then nil
        else @slow.call(self, message)
        end
      rescue => error # the others' turn comes all the same
        Pelton.report_error(error)
      end

      private

      def overflow
        return if closed?
        @error = OverloadError.new("the subscriber of #{@topic.inspect} is too slow: #{@mailbox.bytes} bytes wait " \
          "for it. Raise max_bytes:, or let it drop messages (slow: :drop)")
        close
        Pelton.report_error(@error) if @block
      end

      # @return [String, :lost, nil]
      def take
        message, position = @mailbox.take
        @position = position if position
        message
      end

      def tell_gap
        @on_gap.call
      rescue => error
        Pelton.report_error(error)
      end

      # Only one call at a time: the block may wait.
      def drain
        began = Clock.now
        while !closed? && (message = take)
          (message == :lost) ? tell_gap : _call(message, @position)
          next if Clock.now - began < BUDGET
          Reactor.current.yield
          began = Clock.now
        end
      ensure
        @mailbox.taken
      end
    end
  end
end
