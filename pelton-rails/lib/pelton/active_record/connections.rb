# frozen_string_literal: true

require "active_record"
require "active_support/executor"

module Pelton
  module ActiveRecord
    # A piece of work, such as a request: it has a query cache, and may load asynchronously; when it ends, its fiber's
    # connections return to their pools. These are Active Record's own hooks. In a Rails application the application's
    # executor has them.
    module Connections
      @executor = nil

      class << self
        # @return [Class] an ActiveSupport::Executor
        def executor = @executor ||= with_hooks(Class.new(ActiveSupport::Executor))

        attr_writer :executor

        private

        def with_hooks(executor)
          pool = ::ActiveRecord::ConnectionAdapters::ConnectionPool
          hooks = [::ActiveRecord::QueryCache, ::ActiveRecord::AsynchronousQueriesTracker]
          # From 7.2 on; before, the query cache's hook returns connections
          hooks << pool if pool.respond_to?(:install_executor_hooks)
          hooks.each { |hook| hook.install_executor_hooks(executor) }
          executor
        end
      end
    end

    # Runs the block with a query cache, and returns this fiber's connections to their pools when it ends. Inside
    # another such block, or a request of {ConnectionManagement} or Rails, the outermost does this.
    #
    #     Pelton.spawn { Pelton::ActiveRecord.with_connections { Order.find(id).deliver } }
    #
    # @return the block's value
    # @asynchronous
    def self.with_connections(&block) = Connections.executor.wrap(&block)
  end
end
