# frozen_string_literal: true

module Pelton
  module HTTP
    # The wait of {Server#stop}. It looks again whenever something has ended, or has begun that must end.
    # @private
    class Drain
      # @yieldreturn [Boolean] whether nothing is left
      def initialize(&empty)
        @empty = empty
      end

      # Something has ended, or has begun. Any thread may call it.
      def changed
        change = @change
        @change = nil
        change&.succeed
      end

      # @param timeout [Numeric, nil] seconds
      # @yield ends what may have begun since the last time
      # @return [Boolean] whether nothing is left
      # @asynchronous
      def wait(timeout)
        deadline = timeout && Clock.now + timeout
        loop do
          change = (@change ||= Operation.new)
          yield
          return true if @empty.call
          return false if deadline && Clock.left(deadline).zero?
          await(change, deadline)
        end
      end

      private

      def await(change, deadline)
        change.await(timeout: deadline && Clock.left(deadline))
      rescue TimeoutError
        nil # the caller looks for the last time
      end
    end
  end
end
