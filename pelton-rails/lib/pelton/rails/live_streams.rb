# frozen_string_literal: true

require "action_controller"

module Pelton
  module Rails
    # Runs actions of ActionController::Live in fibers instead of threads, and tells them at once when their client
    # leaves: `response.stream.connected?` becomes false, and a write raises ClientDisconnected. Rails alone notices
    # only when it writes, so an action that waits for news would wait on.
    #
    # For a stream that computes for long, a controller asks for a thread:
    # `def new_controller_thread(&work) = Thread.new(&work)`.
    module LiveStreams
      # Rails' method first takes the stream's lock, which a `close` may hold while it waits for room in a queue that
      # will not be read. It also leaves the request waiting for a next part until the action ends.
      module Buffer
        def abort
          @buf.clear
          super
          @buf.push(nil)
        end
      end

      # Rails copies the request's state (`Current`) from a thread, which has none if the state is kept by fiber.
      module State
        def share_with(other, ...) = super(Thread.current[:pelton_live_request] || other, ...)
      end

      class << self
        # @param executor [Class] the application's ActiveSupport::Executor
        def install(executor)
          @executor = executor
          ::ActionController::Live.prepend(self)
          ::ActionController::Live::Buffer.prepend(Buffer)
          ::ActiveSupport::IsolatedExecutionState.singleton_class.prepend(State)
          # The stream shares the request's `Current` and may outlive the request: the next request on this fiber gets a
          # new one.
          executor.to_complete do
            Fiber.current.active_support_execution_state = nil if Thread.current[:pelton_live_request]
          end
        end

        # Frees what the end of a thread would free, but not that of a fiber, which is reused: the request's state and
        # database connections.
        def leave
          Fiber.current.active_support_execution_state = nil
          @executor.wrap {} # Rails' hooks give connections back
        end
      end

      # @private
      def process(...)
        stream = response.stream
        request.get_header("async.close")&.callback { stream.abort } if stream.is_a?(::ActionController::Live::Buffer)
        # Rails copies this to the stream, with all of the request's fiber-locals.
        if ::ActiveSupport::IsolatedExecutionState.isolation_level == :fiber
          Thread.current[:pelton_live_request] = Fiber.current
        end
        super
      end

      private

      def new_controller_thread(&work)
        return super unless Pelton.running?
        Pelton.spawn(name: "a live stream of #{self.class.name}", detached: true) do
          work.call
        ensure
          LiveStreams.leave
        end
      end
    end
  end
end
