# frozen_string_literal: true

module Pelton
  class PubSub
    # The messages that wait for one subscriber. Any thread puts them in.
    # @private
    class Mailbox
      # Bytes that each message counts beyond its own.
      OVERHEAD = 100
      # Stands for messages that were lost.
      LOST = [nil, nil].freeze
      private_constant :OVERHEAD, :LOST

      # @return [Integer] bytes that wait
      attr_reader :bytes

      # @param max_bytes [Integer] beyond which it takes no more
      # @param tells_losses [Boolean] whether {#take} returns :lost in the place of what it did not take
      # @param due [#call, nil] arranges that {#take} is called until there is nothing left, and then {#taken}; raises
      #   ClosedError when that has become impossible. It must not wait
      def initialize(max_bytes, tells_losses: false, due: nil)
        @lock = Mutex.new
        @max_bytes = max_bytes
        @tells_losses = tells_losses
        @due = due
        @messages = []
        @bytes = 0
      end

      # Whether no message waits, and more may come.
      def idle? = @messages.empty? && !@closed

      # @return [Integer]
      def size = @messages.size

      def closed? = !!@closed

      # @return [:slow, :closed, nil] slow, closed: it did not take the message
      def put(message, position)
        @lock.synchronize do
          next :closed if @closed
          next lose_under_lock if @losing || (@tells_losses && @bytes > @max_bytes)
          next :slow if @bytes > @max_bytes
          add(message, position)
          announce
        end
      end

      # Puts kept messages in, however many they are.
      def fill(messages)
        @lock.synchronize do
          messages.each { |message, position| add(message, position) }
          announce if messages.any?
        end
      end

      # Messages are lost before any later one.
      def lose
        @lock.synchronize { lose_under_lock if @tells_losses && !@closed }
      end

      # @return [Array(String, String), :lost, nil] a message and its position; nil: there is none
      def take
        @lock.synchronize do
          first = @messages.shift or next
          if first.equal?(LOST)
            @losing = false
            next :lost
          end
          @bytes -= first.first.bytesize + OVERHEAD
          first
        end
      end

      # All that was due is taken.
      def taken
        @lock.synchronize do
          @announced = false
          announce unless @closed || @messages.empty?
        end
      end

      # Waits until there is a message, or the end.
      #
      # @raise [TimeoutError]
      # @asynchronous
      def wait(timeout)
        operation = Operation.new
        @lock.synchronize { (@messages.empty? && !@closed) ? (@waiting ||= []) << operation : operation.succeed }
        operation.await(timeout: timeout)
      ensure
        @lock.synchronize { @waiting&.delete(operation) }
      end

      # What waits may still be taken.
      #
      # @return [Boolean] false: it was closed already
      def close
        @lock.synchronize do
          next false if @closed
          @closed = true
          wake
          true
        end
      end

      private

      def add(message, position)
        @messages << [message, position]
        @bytes += message.bytesize + OVERHEAD
      end

      # Until the subscriber knows of it, further messages are lost, too: those after the gap must not come before its
      # news.
      def lose_under_lock
        unless @losing
          @losing = true
          @messages << LOST
          announce
        end
        :slow
      end

      # @return [:closed, nil]
      def announce
        return wake unless @due
        return if @announced
        @announced = true
        @due.call
        nil
      rescue ClosedError
        @closed = true
        @messages.clear
        :closed
      end

      def wake
        @waiting&.each(&:succeed)&.clear
        nil
      end
    end
  end
end
