# frozen_string_literal: true

require_relative "outbox"
require_relative "wire"

module Pelton
  class PubSub
    # Carries messages between processes: delivers what it is given to publish, and what others publish, in one order with its numbers. Its
    # connections come back by themselves; meanwhile what is published waits, up to a limit.
    # @private
    class Engine
      include Opaque

      # Seconds between two attempts to come back, doubled up to the second number.
      DELAY = 0.05
      MOST_DELAY = 1
      private_constant :DELAY, :MOST_DELAY

      # @return [Integer] how often it has come back
      attr_reader :returns

      # @param carrier [String] who takes what is published
      # @param limit [Integer] bytes of published messages that may wait for it
      def initialize(pubsub, carrier, limit:)
        @pubsub = pubsub
        @outbox = Outbox.new(carrier, limit: limit)
        @returns = 0
        @ready = Operation.new
        @tasks = []
      end

      # Waits until the process has what is kept there.
      #
      # @raise [TimeoutError]
      # @asynchronous
      def await_ready(timeout:) = @ready.await(timeout: timeout)

      # Ends the connections for good.
      def close = @tasks.each(&:cancel)

      private

      # Begins a task that works on a connection, and again after each error. The block never returns, and calls what it gets when its connection has
      # proved good.
      def stay_connected(name, complaint, errors)
        @tasks << Pelton.spawn(name: "pubsub's #{name}", transient: true, detached: true) do
          delay = DELAY
          loop do
            yield -> { delay = DELAY }
          rescue *errors => error
            Pelton.logger.warn("pubsub: #{complaint}: #{error.message.lines.first&.chomp}") if delay == DELAY
            sleep(delay)
            delay = [delay * 2, MOST_DELAY].min
          end
        end
      end

      # The process has what is kept, for the first time or again.
      def arrived
        @returns += 1 if @ready.state == :succeeded
        @ready.succeed
      end
    end
  end
end
