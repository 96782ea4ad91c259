# frozen_string_literal: true

module Pelton
  # An operation that completes once: a reply, a read, a task. There are three ways to get its outcome: {#await};
  # {#callback} and {#errback}; or composing it with others ({Deferrable.all}).
  class Operation
    include Deferrable

    # (see Deferrable#await)
    def await(timeout: nil) = _await(timeout)
  end
end
