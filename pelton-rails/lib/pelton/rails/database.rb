# frozen_string_literal: true

require "active_support"
require "active_support/lazy_load_hooks"
require "active_support/isolated_execution_state"
require_relative "mutex_sleep"
require_relative "sqlite_locks"

module Pelton
  module Rails
    # Sets up Active Record, with or without Rails.
    module Database
      class << self
        # Gives each fiber its own state and database connection: Active Record's default is one per thread.
        def isolate
          ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
          MutexSleep.install
        end

        # Changes Active Record when it is loaded, or at once.
        #
        # @yieldreturn [Boolean] called when an SQLite adapter is loaded: whether waiting for its locks parks the fiber
        def install(&sqlite_locks)
          ActiveSupport.on_load(:active_record_sqlite3adapter) { SQLiteLocks.install(self) if sqlite_locks.call }
          ActiveSupport.on_load(:active_record) { Database.extend_active_record }
        end

        # @private
        def extend_active_record
          require_relative "asynchronous_queries"
          require_relative "connection_holders"
          require_relative "connection_waits"
          require_relative "cache_versions"
          require_relative "fiber_connections"
          require_relative "time_limits"
          [AsynchronousQueries, ConnectionHolders, ConnectionWaits, FiberConnections, CacheVersions, TimeLimits].each(&:install)
        end
      end
    end
  end
end
