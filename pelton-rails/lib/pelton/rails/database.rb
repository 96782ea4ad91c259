# frozen_string_literal: true

require "active_support"
require "active_support/lazy_load_hooks"
require "active_support/isolated_execution_state"
require_relative "mutex_sleep"
require_relative "sqlite_locks"

module Pelton
  module Rails
    # What Active Record needs on Pelton, in a Rails application and without one.
    module Database
      class << self
        # Gives each fiber its own state, and so its own database connection: Active Record's default is a thread's.
        def isolate
          ActiveSupport::IsolatedExecutionState.isolation_level = :fiber
          MutexSleep.install
        end

        # Changes Active Record when it is loaded, or at once if it is.
        #
        # @yieldreturn [Boolean] asked when an adapter for SQLite is loaded: whether waits for its locks park the fiber
        def install(&sqlite_locks)
          ActiveSupport.on_load(:active_record_sqlite3adapter) { SQLiteLocks.install(self) if sqlite_locks.call }
          ActiveSupport.on_load(:active_record) { Database.extend_active_record }
        end

        # @private
        def extend_active_record
          require_relative "asynchronous_queries"
          require_relative "connection_holders"
          require_relative "cache_versions"
          require_relative "time_limits"
          [AsynchronousQueries, ConnectionHolders, CacheVersions, TimeLimits].each(&:install)
        end
      end
    end
  end
end
