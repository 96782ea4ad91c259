# frozen_string_literal: true

require "active_record"

module Pelton
  module ActiveRecord
    # Runs the queries of `load_async`, `async_count` and so on in fibers of the process:
    #
    #     config.active_record.async_query_executor = :pelton
    #     config.active_record.global_executor_concurrency = 4 # queries at once, in a process
    #
    # Without Rails these are `ActiveRecord.async_query_executor` and `ActiveRecord.global_executor_concurrency`. A pool
    # looks at them when it is made.
    #
    # This helps with adapters whose queries park the fiber (postgresql, trilogy). Without a reactor, Rails' own threads
    # run the queries.
    module AsynchronousQueries
      # An executor as ActiveRecord's pool expects it.
      class Executor
        # @param limit [Integer] queries that run at once; others wait in order
        def initialize(limit)
          @permits = Semaphore.new(limit)
          @threads = nil
        end

        # @return [void]
        def post(&query)
          return threads.post(&query) unless Pelton.running?
          Pelton.spawn(name: "asynchronous query", detached: true, transient: true) { @permits.acquire(&query) }
        end

        private

        def threads = @threads ||= ::ActiveRecord.global_thread_pool_async_query_executor
      end

      # @private
      def self.install = ::ActiveRecord::ConnectionAdapters::ConnectionPool.prepend(self)

      private

      def build_async_executor
        return super unless ::ActiveRecord.async_query_executor == :pelton
        Executor.new(::ActiveRecord.global_executor_concurrency || 4)
      end
    end
  end
end
