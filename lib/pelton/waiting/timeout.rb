# frozen_string_literal: true

require "timeout"

module Pelton
  class << self
    # Limits the time of the block. When the time is over, the block ends at the place where it waits, and this call
    # raises a {TimeoutError}. Nested limits are independent: the first one to pass counts.
    #
    # The block's `ensure` clauses run, but `rescue => error` in it does not see the end of the time: code that goes on
    # after the error of an operation, as a retry does, would otherwise go on without a limit. A block that computes
    # without ever waiting is not interrupted. Where no reactor runs, Ruby's Timeout interrupts the block.
    #
    # @param seconds [Numeric, nil] nil: no limit
    # @return the block's value
    # @raise [TimeoutError] when the time is over
    # @raise [ArgumentError] without a block
    # @asynchronous
    def timeout(seconds, &block)
      raise ArgumentError, "timeout needs a block" unless block
      return yield unless seconds
      message = "the block took longer than #{seconds} s"
      return Reactor.current.timeout_after(seconds, TimeoutError, message) { yield } if running?
      timeout_without_reactor(seconds, message, &block)
    end

    private

    # Ruby's Timeout raises an exception in the block, which a rescue of Exception sees, as Sinatra has it: so what the
    # block does after that does not count. A class for each call, so that nested limits tell their errors apart.
    def timeout_without_reactor(seconds, message)
      over = nil
      limit = Class.new(Exception) # standard:disable Lint/InheritException
      limit.define_singleton_method(:exception) { |*arguments| over = super(*arguments) }
      value = begin
        ::Timeout.timeout(seconds.positive? ? seconds : Float::EPSILON, limit, message) { yield }
      rescue limit, StandardError
        raise unless over
      end
      raise TimeoutError, message, over.backtrace if over
      value
    end
  end
end
