# frozen_string_literal: true

module Pelton
  module Web
    # In development, reloads the program's files before a request if one has changed. Waits for running requests, which
    # use the old classes, while new requests wait for the reload. Streams that continue after their action, and
    # WebSockets, keep the old classes.
    #
    # @private
    class Reloading
      # Seconds; a request that takes longer continues with the old classes.
      PATIENCE = 5

      # @yieldreturn [#call] the application, compiled from the current classes
      def initialize(loading, patience: PATIENCE, &compile)
        @loading = loading
        @patience = patience
        @compile = compile
        @app = compile.call
        @running = 0
        @lock = Thread::Mutex.new
        @change = Thread::ConditionVariable.new
      end

      # Rack's interface.
      #
      # @raise any error of the program's files; the next request tries again
      # @asynchronous
      def call(env)
        app = enter
        begin
          app.call(env)
        ensure
          @lock.synchronize { leave }
        end
      end

      # Reloads if needed, as before a request.
      #
      # @return [Boolean] whether any file had changed
      # @raise any error of the program's files
      # @asynchronous
      def refresh
        before = @app
        enter
        @lock.synchronize { leave }
        !before.equal?(@app)
      end

      private

      def enter
        @lock.synchronize do
          @change.wait(@lock) while @reloading # the reload has a deadline
          reload if @app.nil? || @loading.changed?
          @running += 1
          @app
        end
      end

      def leave
        @running -= 1
        @change.broadcast
      end

      def reload
        @reloading = true
        wait_for_requests
        @app = nil
        @loading.reload
        @app = @compile.call
      ensure
        @reloading = false
        @change.broadcast
      end

      def wait_for_requests
        limit = Clock.now + @patience
        while @running.positive?
          left = limit - Clock.now
          if left <= 0
            return Pelton.logger.warn("#{@running} request(s) still run after #{@patience} s: they go on with the " \
              "old classes")
          end
          @change.wait(@lock, left)
        end
      end
    end
  end
end
