# frozen_string_literal: true

module Pelton
  # One thing that completes once: a reply, a read, a task. There are three ways to learn of it: {#await}, {#callback} and
  # {#errback}, or composing it with others ({Deferrable.all}).
  class Operation
    include Deferrable

    # (see Deferrable#await)
    def await(timeout: nil) = _await(timeout)
  end
end
