# frozen_string_literal: true

require "pelton"
require "active_support"
require "active_support/isolated_execution_state"

module Pelton
  module ActiveRecord
    # Begins each task, timer and callback without state of Active Support, and returns the connections that it has
    # leased when it ends.
    #
    # Active Support keeps its state (`Current`, the query cache, the shard) and Active Record its leases by fiber, and
    # one fiber runs many tasks: the next would have the last one's.
    # @private
    module TaskState
      @around = nil
      @pools = nil

      class << self
        # @return [#call, nil] returns the pools of Active Record, once it is loaded
        attr_writer :pools

        def install
          return if @around
          @around = method(:around)
          Inherited.carry { @around }
        end

        private

        def around(block)
          return block.call unless ActiveSupport::IsolatedExecutionState.isolation_level == :fiber
          begin
            fiber = Fiber.current
            before, fiber.active_support_execution_state = fiber.active_support_execution_state, nil
            held = leasing
            block.call
          ensure
            leasing.each { |pool| release(pool) unless held.include?(pool) }
            fiber.active_support_execution_state = before
          end
        end

        # A block that is called within another has the connection of that.
        def leasing = @pools ? @pools.call.select(&:active_connection?) : []

        # As Rails' executor does: a transaction that is still open may be that of a test.
        def release(pool)
          transaction = pool.active_connection?.current_transaction
          pool.release_connection if transaction.closed? || !transaction.joinable?
        end
      end
    end
  end
end
