# frozen_string_literal: true

module Pelton
  module Web
    class Fragments
      # If several fibers of a thread want the same value at the same time, one computes it, and the others get its
      # value or error.
      #
      # @private
      class SingleFlight
        # @param wait [Numeric] seconds to wait for another fiber, before computing the value, too
        def initialize(wait)
          @wait = wait
          @flights = {}
        end

        # @asynchronous
        def run(key, &block)
          id = [Thread.current, key]
          operation, owner = @flights[id]
          return lead(id, &block) unless operation
          return yield if owner.equal?(Fiber.current) # its own block wants the same key
          begin
            operation.await(timeout: @wait)
          rescue TimeoutError
            raise if operation.done? # the other fiber's error
            yield
          end
        end

        private

        def lead(id)
          operation = Operation.new
          @flights[id] = [operation, Fiber.current]
          value = yield
          operation.succeed(value)
          value
        ensure
          @flights.delete(id)
          fail(operation, $!) unless operation.done?
        end

        def fail(operation, error)
          operation.errback {} # without waiters the error must not count as unhandled
          operation.fail(
            error.is_a?(StandardError) ? error : ClosedError.new("the fiber that rendered the fragment was stopped")
          )
        end
      end
    end
  end
end
