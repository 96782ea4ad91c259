# frozen_string_literal: true

module Pelton
  class << self
    # Runs the block with the thread to itself for as long as its data is ready. Otherwise the loop turns after every 256
    # operations that need not wait, to be fair to the others; inside the block it turns only when something is not ready.
    #
    # For one long, important operation, such as a bulk insert: everything else on this thread stands still meanwhile. The
    # watchdog takes an operation for progress. What is written is sent when 64 KB have gathered or the block waits.
    #
    # @return the block's value
    # @raise [NotRunningError] outside {run}
    def hold
      raise NotRunningError, "Pelton.hold needs a running reactor: call it inside Pelton.run { }" unless running?
      fiber = Fiber.current
      outer = fiber.instance_variable_get(:@pelton_hold)
      begin
        fiber.instance_variable_set(:@pelton_hold, true)
        yield
      ensure
        fiber.instance_variable_set(:@pelton_hold, outer)
      end
    end
  end
end
