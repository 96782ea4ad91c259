# frozen_string_literal: true

module Pelton
  module Rails
    class Cable
      # Calls connections and channels in fibers, inside the application's executor, at most so many at once.
      class Worker < ::ActionCable::Server::Worker
        # @return [Cable, nil] nil: Rails' own threads
        attr_reader :cable

        # @param cable [Cable, nil]
        def cable=(cable)
          return if cable.equal?(@cable)
          @cable = cable
          @slots = Semaphore.new(Cable.settings.cable_callbacks)
        end

        def halt
          @halted = true
          super
        end

        def stopping? = @halted

        # Called again inside a call, it needs no slot.
        def work(connection, &block)
          return super if @slots.nil? || self.connection
          @slots.acquire { super }
        end

        # @return [Task, nil] nil: on another thread than that which serves
        def async_invoke(receiver, method, *args, connection: receiver, &block)
          return super unless @cable
          unless @cable.here?
            return @cable.call { async_invoke(receiver, method, *args, connection: connection, &block) }
          end
          Pelton.spawn(name: "Action Cable", detached: true) do
            invoke(receiver, method, *args, connection: connection, &block)
          end
        end
      end
    end
  end
end
