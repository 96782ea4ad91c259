# frozen_string_literal: true

module Pelton
  class << self
    private

    # Turns direct style into callback style: runs the block in a task, or at once where no reactor runs.
    #
    # @param listener [Proc, nil] is called with the block's value
    # @return [Operation] succeeds with the block's value, or fails with the error that the block raises
    def defer(listener, &work)
      operation = running? ? Task._spawn(work, false, true) : Operation.new
      operation.callback(&listener) if listener
      settle(operation, work) unless running?
      operation
    end

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
