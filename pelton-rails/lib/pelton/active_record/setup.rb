# frozen_string_literal: true

require "active_support"
require "active_support/lazy_load_hooks"
require "active_support/isolated_execution_state"
require_relative "mutex_sleep"
require_relative "sqlite_locks"
require_relative "task_state"

module Pelton
  module ActiveRecord
    # Sets up Active Record, with or without Rails.
    module Setup
      @installed = false
      @sqlite_locks = -> { true }

      class << self
        # Gives each fiber, and each task on it, its own state and database connection: Active Record's default is one
        # per thread.
        def isolate
          ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
          MutexSleep.install
          TaskState.install
        end

        # Changes Active Record when it is loaded, or at once. Does so only once, but a later block replaces an earlier
        # one.
        #
        # @yieldreturn [Boolean] called when an SQLite adapter is loaded: whether waiting for its locks parks the fiber
        def install(&sqlite_locks)
          @sqlite_locks = sqlite_locks if sqlite_locks
          return if @installed
          @installed = true
          ActiveSupport.on_load(:active_record_sqlite3adapter) { Setup.extend_sqlite3(self) }
          ActiveSupport.on_load(:active_record) { Setup.extend_active_record }
        end

        # @private
        def extend_sqlite3(adapter)
          SQLiteLocks.install(adapter) if @sqlite_locks.call
        end

        # @private
        def extend_active_record
          require_relative "advice"
          require_relative "asynchronous_queries"
          require_relative "connection_holders"
          require_relative "connection_waits"
          require_relative "cache_versions"
          require_relative "fiber_connections"
          require_relative "lease_sweeps"
          require_relative "time_limits"
          TaskState.extend_active_record
          [Advice, AsynchronousQueries, ConnectionHolders, ConnectionWaits, FiberConnections, LeaseSweeps,
            CacheVersions, TimeLimits].each(&:install)
        end
      end
    end
  end
end
