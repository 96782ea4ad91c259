# frozen_string_literal: true

module Pelton
  class << self
    # Keeps the thread for the block for as long as its data is ready. Without it, other fibers run after every 256
    # operations that need not wait; inside the block they run only when the block has to wait.
    #
    # It is meant for one long, important operation, such as a bulk insert: nothing else on this thread runs meanwhile.
    # Each operation counts as progress for the watchdog. Written bytes are sent when 64 KB are queued, or when the
    # block waits.
    #
    # @return the block's value
    # @raise [NotRunningError] outside {run}
    # @asynchronous if the block is
    def without_yielding
      Reactor.require_running("Pelton.without_yielding")
      fiber = Fiber.current
      outer = fiber.instance_variable_get(:@pelton_without_yielding)
      begin
        fiber.instance_variable_set(:@pelton_without_yielding, true)
        yield
      ensure
        fiber.instance_variable_set(:@pelton_without_yielding, outer)
      end
    end
  end
end
