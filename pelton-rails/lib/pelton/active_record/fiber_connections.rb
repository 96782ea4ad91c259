# frozen_string_literal: true

require "active_record"

module Pelton
  module ActiveRecord
    # Gives each fiber its own database connection on Active Record 7.0, whose pool knows only threads: requests that
    # wait at the same time would share a connection, and so their transactions. Later versions follow
    # `isolation_level`, as this does.
    module FiberConnections
      # A connection's owner is a fiber; to Active Record, which compares it with the current thread, the current fiber
      # is the current thread.
      module Owner
        def owner = @owner.equal?(FiberConnections.context) ? Thread.current : @owner

        def lease = super.tap { @owner = FiberConnections.context }

        def expire
          @owner = owner
          super
        end

        def steal!
          @owner = owner
          super
          @owner = FiberConnections.context
        end
      end

      # Active Support 7.0 tells only the level.
      def self.context
        (ActiveSupport::IsolatedExecutionState.isolation_level == :fiber) ? Fiber.current : Thread.current
      end

      # Does nothing from Active Record 7.1 on.
      def self.install
        return if ::ActiveRecord.version >= Gem::Version.new("7.1.0.alpha")
        ::ActiveRecord::ConnectionAdapters::AbstractAdapter.prepend(Owner)
        ::ActiveRecord::ConnectionAdapters::ConnectionPool.prepend(self)
      end

      private

      # Tests with transactions (`lock_thread`) have one connection for all.
      def connection_cache_key(owner)
        (owner.equal?(Thread.current) && !@lock_thread) ? FiberConnections.context : owner
      end
    end
  end
end
