# frozen_string_literal: true

module Pelton
  module Web
    # In development: before a request, loads the program's files again if one has changed. It waits until the requests in progress have
    # their responses, since they use the classes that are about to go, and new requests wait until everything is loaded. Streams that go
    # on after their response has begun, and WebSockets, keep the classes that they began with.
    #
    # @private
    class Reloading
      # Seconds. A request that takes longer goes on with the old classes.
      PATIENCE = 5

      # @yieldreturn [#call] the application, made of the classes that are loaded now
      def initialize(loading, patience: PATIENCE, &compile)
        @loading = loading
        @patience = patience
        @compile = compile
        @app = compile.call
        @running = 0
        @lock = Thread::Mutex.new
        @change = Thread::ConditionVariable.new
      end

      # Rack's entry.
      #
      # @raise whatever the program's files raise: the next request tries again
      # @asynchronous
      def call(env)
        app = enter
        begin
          app.call(env)
        ensure
          @lock.synchronize { leave }
        end
      end

      # Does what a request does first.
      #
      # @return [Boolean] whether something had changed
      # @raise whatever the program's files raise
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
          @change.wait(@lock) while @reloading # it has a deadline of its own
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
          return Pelton.logger.warn("#{@running} request(s) still run after #{@patience} s: they go on with the old classes") if left <= 0
          @change.wait(@lock, left)
        end
      end
    end
  end
end
