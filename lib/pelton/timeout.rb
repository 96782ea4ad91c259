# frozen_string_literal: true

require "timeout"

module Pelton
  class << self
    # Gives the block so many seconds. When they are over, what the block waits for is given up: a TimeoutError is raised
    # there. Nested limits are independent; the one that is over first counts.
    #
    # A block that never waits is not interrupted, as nothing is in a reactor. Where no reactor runs, this is
    # Timeout.timeout.
    #
    # @param seconds [Numeric, nil] nil: no limit
    # @return the block's value
    # @raise [TimeoutError]
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
