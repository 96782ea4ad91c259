# frozen_string_literal: true

module Pelton
  module Deferrable
    class << self
      # Turns direct style into callback style: runs the block in a task, or at once where no reactor runs.
      #
      # @api private
      # @param listener [Proc, nil] is called with the block's value
      # @return [Operation] succeeds with the block's value, or fails with the error that the block raises
      def defer(listener, &work)
        operation = Pelton.running? ? Task._spawn(work, false, true) : Operation.new
        operation.callback(&listener) if listener
        settle(operation, work) unless Pelton.running?
        operation
      end

      private

      def settle(operation, work)
        value = work.call
      rescue => error
        operation.fail(error)
      else
        operation.succeed(value)
        operation.await # where no reactor runs, this calls the listener
      end
    end
  end
end
