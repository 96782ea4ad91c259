# frozen_string_literal: true

module Pelton
  # One thing that completes once: a reply, a read, a task. There are three ways to learn of it: {#await}, {#callback} and
  # {#errback}, or composing it with others.
  class Operation
    # Waits until the operation is settled. Returns its value or raises its error.
    #
    # @param timeout [Numeric, nil] seconds
    # @raise [TimeoutError] when the time is over first; the operation itself goes on
    # @asynchronous
    def await(timeout: nil) = _await(timeout)
  end
end
