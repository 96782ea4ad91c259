# frozen_string_literal: true

require "timeout"

module Pelton
  class << self
    # Limits the time of the block. When the time is over, a {TimeoutError} is raised at the place where the block waits. Nested
    # limits are independent: the first one to pass counts.
    #
    # A block that computes without ever waiting is not interrupted. Where no reactor runs, this is Timeout.timeout.
    #
    # @param seconds [Numeric, nil] nil: no limit
    # @return the block's value
    # @raise [TimeoutError] inside the block, when the time is over
    # @raise [ArgumentError] without a block
    # @asynchronous
    def timeout(seconds, &block)
      raise ArgumentError, "timeout needs a block" unless block
      return yield unless seconds
      message = "the block took longer than #{seconds} s"
      return Reactor.current.timeout_after(seconds, TimeoutError, message) { yield } if running?
      ::Timeout.timeout(seconds.positive? ? seconds : Float::EPSILON, TimeoutError, message) { yield }
    end
  end
end
