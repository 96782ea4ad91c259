# frozen_string_literal: true

require_relative "outbox"
require_relative "wire"

module Pelton
  class PubSub
    # Carries messages between processes: delivers what it is given to publish, and what others publish, in one order
    # with its numbers. Its connections come back by themselves; meanwhile what is published waits, up to a limit.
    # @private
    class Engine
      include Opaque

      # Seconds between two attempts to come back, doubled up to the second number.
      DELAY = 0.05
      MOST_DELAY = 1
      private_constant :DELAY, :MOST_DELAY

      # @return [Integer] how often it has come back
      attr_reader :returns

      # @return [String, nil] of whoever numbers the messages; nil: not known yet
      attr_reader :epoch

      # @param carrier [String] who takes what is published
      # @param limit [Integer] bytes of published messages that may wait for it
      def initialize(pubsub, carrier, limit:)
        @pubsub = pubsub
        @outbox = Outbox.new(carrier, limit: limit)
        @returns = 0
        @ready = Operation.new
        @early = {} # topics of messages that came for the history alone
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

      # Begins a task that works on a connection, and again after each error. The block never returns, and calls what it
      # gets when its connection has proved good.
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

      # Delivers what was published before this process had joined, for the history alone.
      def deliver_early(topic, message, rule, position, age: 0)
        @early[topic] = true
        @pubsub._deliver(topic, message, rule, position, kept: true, age: age) if rule
      end

      # The process has what is kept, for the first time or again. If it has served for long without, those who have
      # subscribed meanwhile may have missed what came for the history alone.
      #
      # @param lost [Boolean] whether messages of any topic may be missing
      def arrived(lost: false)
        @returns += 1 if @ready.state == :succeeded
        @pubsub._lost(lost ? nil : @early.keys)
        @early.clear
        @ready.succeed
      end
    end
  end
end
