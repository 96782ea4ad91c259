# frozen_string_literal: true

module Pelton
  class << self
    private

    # Does in callback style what the block does in direct style: in a task, or, where no reactor runs, at once.
    #
    # @param listener [Proc, nil] is called with the block's value
    # @return [Operation] fails with what the block raises
    def defer(listener, &work)
      operation = running? ? Task.spawn(&work) : Operation.new
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
