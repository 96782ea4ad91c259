# frozen_string_literal: true

module Pelton
  class PubSub
    # What waits for one subscriber of a topic. Made by {PubSub#subscribe}.
    class Subscription
      include Opaque

      # Bytes that may wait for a subscriber.
      MAX_BYTES = 1 << 20
      # And for what passes messages on to others.
      ATTACHED = 16 << 20
      # Bytes that each message counts beyond its own.
      OVERHEAD = 100
      # Seconds of messages after which others get a turn.
      BUDGET = 0.001
      # Stands for messages that were lost.
      LOST = [nil, nil].freeze
      private_constant :OVERHEAD, :BUDGET, :LOST

      # @return [String]
      attr_reader :topic

      # @return [String, nil] of the message that was given out last, or of the topic when the subscription began: for `after:` of
      #   {PubSub#subscribe}. nil: the topic keeps none
      attr_reader :position

      # @private
      def initialize(pubsub, topic, max_bytes:, slow:, block:, direct: false, gap: nil)
        raise ArgumentError, "slow: must be :close, :drop or callable, not #{slow.inspect}" unless gap || %i[close drop].include?(slow) || slow.respond_to?(:call)
        @pubsub = pubsub
        @topic = topic
        @max_bytes = max_bytes
        @slow = slow
        @block = block
        @direct = direct
        @on_gap = gap
        @reactor = Reactor.current if block
        @thread = Thread.current
        @messages = []
        @bytes = @dropped = 0
      end

      # Whether messages are missing: between `after:` and the first one, as they are not kept any more, or later, because the other processes
      # could not be reached.
      def gap? = !!@gap

      # Whether its block is called by a reactor.
      # @private
      def _of?(reactor) = !@reactor.nil? && @reactor.equal?(reactor)

      # Whether it passes messages on: see PubSub#attach.
      # @private
      def _attached? = !!@on_gap

      # @return [Boolean]
      def closed? = !!@closed

      # @return [Integer] messages that wait for the subscriber
      def size = @messages.size

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
          return if @closed
          wait(limit && Clock.left(limit))
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

      # Ends the subscription. What waits in a queue may still be received; a block is not called any more. Any thread may call it.
      #
      # @return [nil]
      def close
        return if @closed
        @closed = true
        @pubsub._remove(self)
        @pubsub._synchronize { wake }
        nil
      end

      def inspect = "#<#{self.class.name} #{@topic.inspect}#{" closed" if @closed} #{size} waiting>"

      # Called under the lock.
      #
      # @return [:now, :slow, nil] now: the caller must call {#_call} when it has left the lock
      # @private
      def _push(message, position)
        return if @closed
        return :now if @direct && @messages.empty? && @thread.equal?(Thread.current)
        return lose if @losing || (@on_gap && @bytes > @max_bytes)
        return :slow if @bytes > @max_bytes
        @messages << [message, position]
        @bytes += message.bytesize + OVERHEAD
        @block ? schedule : wake
        nil
      end

      # @private
      def _call(message, position)
        @position = position
        @block.call(message, position)
      rescue => error
        Pelton.report_error(error)
      end

      # Called under the lock: messages are lost before any later one.
      # @private
      def _lose
        @gap = true
        lose if @on_gap && !@closed
      end

      # Called under the lock, before any message comes.
      # @private
      def _begin(position) = @position = position

      # Called under the lock, before any message comes.
      # @private
      def _resume(position, messages, complete)
        @position = position if complete
        @gap = !complete
        messages.each do |message, position|
          @messages << [message, position]
          @bytes += message.bytesize + OVERHEAD
        end
        schedule if @block && messages.any?
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
        return if @closed
        @error = OverloadError.new("the subscriber of #{@topic.inspect} is too slow: #{@bytes} bytes wait for it. Raise max_bytes:, or let it drop messages (slow: :drop)")
        close
        Pelton.report_error(@error) if @block
      end

      # Until the subscriber knows of it, further messages are lost, too: those after the gap must not come before its news.
      def lose
        unless @losing
          @losing = true
          @messages << LOST
          schedule
        end
        :slow
      end

      # Takes the next message under the lock, as it may come from any thread.
      #
      # @return [String, :lost, nil]
      def take
        message, position = @pubsub._synchronize do
          first = @messages.shift
          if first.equal?(LOST)
            @losing = false
            next :lost
          end
          @bytes -= first.first.bytesize + OVERHEAD if first
          first
        end
        @position = position if message && message != :lost
        message
      end

      def tell_gap
        @on_gap.call
      rescue => error
        Pelton.report_error(error)
      end

      def wait(timeout)
        operation = Operation.new
        @pubsub._synchronize { (@messages.empty? && !@closed) ? (@waiting ||= []) << operation : operation.succeed }
        operation.await(timeout: timeout)
      ensure
        @pubsub._synchronize { @waiting&.delete(operation) }
      end

      def wake = @waiting&.each(&:succeed)&.clear

      # Has the block called on its own thread. A reactor that has ended takes its subscription along.
      def schedule
        return if @scheduled
        @scheduled = true
        @reactor.next_tick { drain }
      rescue ClosedError
        @closed = true
        @messages.clear
        Thread.new { @pubsub._remove(self) } # the lock is held
      end

      # Only one call at a time: the block may wait.
      def drain
        began = Clock.now
        while !@closed && (message = take)
          (message == :lost) ? tell_gap : _call(message, @position)
          next if Clock.now - began < BUDGET
          Reactor.current.yield
          began = Clock.now
        end
      ensure
        @pubsub._synchronize do
          @scheduled = false
          schedule if !@closed && @messages.any?
        end
      end
    end
  end
end
