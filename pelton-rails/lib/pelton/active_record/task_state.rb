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
      LEASED = :pelton_leased_connections
      private_constant :LEASED

      @around = nil

      # Notes which connections the current block has leased. Asking all pools would cost each task more.
      module Lease
        def lease
          super.tap { TaskState.leased&.store(self, true) }
        end

        def expire(...)
          TaskState.leased&.delete(self)
          super
        end
      end

      class << self
        def install
          return if @around
          @around = method(:around)
          Inherited.carry { @around }
        end

        # Once Active Record is loaded.
        def extend_active_record = ::ActiveRecord::ConnectionAdapters::AbstractAdapter.prepend(Lease)

        # @return [Hash{ActiveRecord::ConnectionAdapters::AbstractAdapter => true}, nil] the connections that the
        #   current block has; nil outside of tasks, timers and callbacks
        def leased = Thread.current[LEASED]

        private

        # A block that is called within another has the connection of that.
        def around(block)
          return block.call unless ActiveSupport::IsolatedExecutionState.isolation_level == :fiber
          begin
            fiber = Fiber.current
            before, fiber.active_support_execution_state = fiber.active_support_execution_state, nil
            outer, Thread.current[LEASED] = leased, {}.compare_by_identity
            block.call
          ensure
            leased.each_key { |connection| release(connection) }
            Thread.current[LEASED] = outer
            fiber.active_support_execution_state = before
          end
        end

        # As Rails' executor does: a transaction that is still open may be that of a test. What was checked out by hand
        # is its user's.
        def release(connection)
          return unless connection.pool.active_connection?.equal?(connection)
          transaction = connection.current_transaction
          connection.pool.release_connection if transaction.closed? || !transaction.joinable?
        end
      end
    end
  end
end
