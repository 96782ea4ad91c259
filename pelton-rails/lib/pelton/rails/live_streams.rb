# frozen_string_literal: true

require "action_controller"

module Pelton
  module Rails
    # Actions of ActionController::Live as Pelton's own streams are: each runs in a fiber instead of a thread of its own, and hears at once that its client has
    # left. `response.stream.connected?` becomes false then, and a write raises ClientDisconnected. Rails alone, on any server, finds out when it writes, so
    # an action that waits for news would go on until there are some.
    #
    # A controller whose stream shall run in a thread, because it computes for long, says so: `def new_controller_thread(&work) = Thread.new(&work)`.
    module LiveStreams
      # Rails' own takes the stream's lock first, which a `close` may hold while it waits for room among the parts that nobody will read. And it leaves the request
      # to wait for a next part, until the action ends.
      module Buffer
        def abort
          @buf.clear
          super
          @buf.push(nil)
        end
      end

      # Rails copies the state of the request (`Current`) from a thread, which has none where the state is kept by fiber.
      module State
        def share_with(other, ...)
          super(Thread.current[:pelton_live_request] || other, ...)
        end
      end

      class << self
        # @param executor [Class] the application's ActiveSupport::Executor
        def install(executor)
          @executor = executor
          ::ActionController::Live.prepend(self)
          ::ActionController::Live::Buffer.prepend(Buffer)
          ::ActiveSupport::IsolatedExecutionState.singleton_class.prepend(State)
          # The stream shares the request's `Current`, and may last longer: the next request on this fiber gets one of its own.
          executor.to_complete { Fiber.current.active_support_execution_state = nil if Thread.current[:pelton_live_request] }
        end

        # Frees what is gone with a thread's end, but not with that of a fiber, which serves others then: the request's state and the database's connections.
        def leave
          Fiber.current.active_support_execution_state = nil
          @executor.wrap {} # Rails' hooks give the connections back
        end
      end

      def process(...)
        stream = response.stream
        request.get_header("async.close")&.callback { stream.abort } if stream.is_a?(::ActionController::Live::Buffer)
        # Rails copies it to the stream, with all of the request's fiber-locals.
        Thread.current[:pelton_live_request] = Fiber.current if ::ActiveSupport::IsolatedExecutionState.isolation_level == :fiber
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
