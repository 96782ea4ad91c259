# frozen_string_literal: true

module Pelton
  module Memcached
    # A client's commands, each returning its Deferrable: {Client#later}.
    class Later
      # @return [Operation] of {Client#fetch}, in a task
      def fetch(...) = in_a_task { @client.fetch(...) }

      # @return [Operation] of {Client#cas}, in a task
      def cas(...) = in_a_task { @client.cas(...) }

      private

      def in_a_task(&block)
        return Task.spawn(&block) if Pelton.running?
        operation = Operation.new
        begin
          operation.succeed(yield)
        rescue => error
          operation.fail(error)
        end
        operation
      end
    end
  end
end
