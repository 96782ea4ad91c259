# frozen_string_literal: true

module Pelton
  module Rails
    class Cable
      # Action Cable's event loop, on which adapters hand over messages and channels have timers: the reactor of the
      # thread that serves. Rails' own, with its threads, where Pelton serves no connection.
      class EventLoop < ::ActionCable::Connection::StreamEventLoop
        # @return [Cable, nil]
        attr_accessor :cable

        # Any thread may call it. Inside a call of a connection or a channel, which has the executor around it, the task
        # runs at once.
        def post(task = nil, &block)
          return super unless @cable
          task ||= block
          Worker.connection ? @cable.call(&task) : @cable.later(&task)
        end

        # @param interval [Numeric] seconds. While the task of a turn lasts, further turns are left out
        # @return [#shutdown]
        def timer(interval, &block)
          return super unless @cable
          Timer.new.tap { |timer| @cable.call { timer.start(interval, block) } }
        end

        # A periodic timer.
        class Timer
          def start(interval, block)
            return if @shutdown
            @timer = Pelton.add_periodic_timer(interval) do
              @task = block.call unless @task.respond_to?(:alive?) && @task.alive?
            end
          end

          def shutdown
            @shutdown = true
            @timer&.cancel
          end
        end
        private_constant :Timer
      end
    end
  end
end
