# frozen_string_literal: true

module Pelton
  module Web
    class Fragments
      # Of all fibers of a thread that want the same value at the same time, one computes it; the others get its value, or its error.
      #
      # @private
      class SingleFlight
        # @param wait [Numeric] seconds for which a fiber waits for another; then it computes the value itself
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
            raise if operation.done? # the error of the other one
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
          operation.errback {} # if nobody waits, the error does not count as unhandled
          operation.fail(error.is_a?(StandardError) ? error : ClosedError.new("the fiber that rendered the fragment was stopped"))
        end
      end
    end
  end
end
