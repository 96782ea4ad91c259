# frozen_string_literal: true

module Pelton
  class PubSub
    # Published messages on their way to whoever carries them: filled by any thread, emptied by one fiber, and bounded.
    # @private
    class Outbox
      # Bytes that may wait.
      LIMIT = 4 << 20

      # @return [Integer] that wait, or were taken and are not sent yet
      attr_reader :bytes

      # @param carrier [String] for the message of the error
      def initialize(carrier, limit: LIMIT)
        @carrier = carrier
        @limit = limit
        @lock = Mutex.new
        @items = []
        @bytes = @taken = 0
      end

      # @param bytes [Integer] that the item counts
      # @raise [OverloadError] too much waits already
      def push(item, bytes)
        @lock.synchronize do
          if @bytes > @limit
            raise OverloadError, "#{@bytes} bytes of published messages wait for #{@carrier}, which does not take them"
          end
          @items << [item, bytes]
          @bytes += bytes
          @waiting&.succeed
          @waiting = nil
        end
      end

      # Waits until there are items, and takes as many as have about so many bytes, but at least one. They count until
      # {#sent}. Without a deadline: there may be nothing to publish for days.
      #
      # @return [Array]
      # @asynchronous
      def take(most)
        @lock.synchronize { (@waiting = Operation.new) if @items.empty? }&.await
        @lock.synchronize do
          taken = []
          while @items.any? && (taken.empty? || @taken < most)
            item, bytes = @items.shift
            taken << item
            @taken += bytes
          end
          taken
        end
      end

      # What was taken has been sent.
      def sent
        @lock.synchronize do
          @bytes -= @taken
          @taken = 0
        end
      end

      # Waits until all is sent.
      #
      # @return [Boolean] whether it was in time
      # @asynchronous
      def drain(limit)
        sleep 0.005 while @bytes.positive? && Clock.now < limit
        @bytes.zero?
      end
    end
  end
end
