# frozen_string_literal: true

require_relative "client_connection"
require_relative "client_connector"

module Pelton
  module HTTP
    # The connections of one client on one thread, up to a limit for each origin. They stay open between requests.
    # @private
    class ClientPool
      include Opaque

      # The connections to one origin. permits: a semaphore that counts the free ones; idle: the longest idle first; users: the
      # requests that wait or run.
      Origin = Struct.new(:permits, :idle, :users) { include Opaque }

      # The most idle connections to all origins. Beyond, the connection that has been idle longest is closed.
      MAX_IDLE = 100

      def initialize(limit:, keep_alive:, **settings)
        @limit = limit
        @keep_alive = keep_alive
        @connector = ClientConnector.new(**settings)
        @origins = {}
        @thread = Thread.current
        @in_use = {}.compare_by_identity
        @idle = {}.compare_by_identity # of all origins, the longest idle first; each with its Origin
        @reactor = Reactor.current
        @lost = []
      end

      # Takes an idle connection or makes a new one. The connection returns to the pool by itself.
      #
      # @param fresh [Boolean] whether it must be new
      # @raise [TimeoutError, ConnectionError]
      # @asynchronous
      def take(request, deadlines, fresh: false)
        reclaim if @lost.any?
        key = request.origin
        origin = @origins[key] ||= Origin.new(Semaphore.new(@limit), [], 0)
        origin.users += 1
        permitted = acquire(origin, request, deadlines)
        connection = (idle(origin) unless fresh) || connect(request, deadlines)
        @in_use[connection] = true
        connection
      ensure # Ruby's Timeout leaves by throw
        if origin && !connection
          origin.permits.release if permitted
          leave(key, origin)
        end
      end

      # Takes a connection back when the garbage collector finds that nobody can read its response any more.
      def watch(response, connection)
        ObjectSpace.define_finalizer(response, finalizer(connection, connection.busy))
      end

      # Closes the idle connections.
      def close
        drop_oldest while @idle.any?
      end

      def stats = {open: @idle.size + @in_use.size, idle: @idle.size}

      def alive? = @thread.alive?

      private

      def acquire(origin, request, deadlines)
        origin.permits.acquire(timeout: deadlines.left(:pool_timeout))
      rescue TimeoutError
        raise exhausted(request, deadlines)
      end

      def connect(request, deadlines)
        stream, proxied = @connector.connect(request, deadlines.left(:connect_timeout))
        ClientConnection.new(stream, request.origin, proxied: proxied) { |connection| take_back(connection) }
      rescue TimeoutError => error
        raise request.named(deadlines.over(:connect_timeout, "#{error.message}: the server is slow, or connect_timeout: too short"))
      rescue Error => error
        raise request.named(error)
      end

      def exhausted(request, deadlines)
        request.named(deadlines.over(:pool_timeout, "no connection became free: all #{@limit} are in use. Read responses with stream: true to their end, " \
          "or close them; or allow more by connections:"))
      end

      # A finalizer may run in the middle of any code, so it only leaves a note.
      def finalizer(connection, request)
        lambda do |_|
          @lost << [connection, request]
          @reactor.next_tick { reclaim }
        end
      end

      def reclaim
        while (connection, request = @lost.shift)
          connection.abort if connection.busy == request
        end
      end

      # Takes the connection that was used last: the server is least likely to have closed it.
      def idle(origin)
        now = Clock.now
        while (connection = origin.idle.pop)
          @idle.delete(connection)
          return connection if connection.expires > now && connection.reusable?
          connection.abort
        end
      end

      def take_back(connection)
        return unless @in_use.delete(connection)
        origin = @origins[connection.origin]
        if connection.reusable?
          origin.idle << connection.begin_idle(@keep_alive)
          @idle[connection] = origin
          drop_old(Clock.now)
          start_cleaning
        elsif !connection.handed_over?
          connection.leave
        end
        origin.permits.release
        leave(connection.origin, origin)
      end

      # Removes an origin without users and connections: a client may see millions of origins.
      def leave(key, origin)
        origin.users -= 1
        remove_unused(key, origin)
      end

      def remove_unused(key, origin)
        @origins.delete(key) if origin.users.zero? && origin.idle.empty?
      end

      # While a reactor runs, closes connections that have been idle for too long, or that the server has closed, without
      # waiting for the next request. The timer does not keep a run going.
      def start_cleaning
        return if @timer&.active? || !Pelton.running?
        @timer = Pelton.add_periodic_timer((@keep_alive / 4.0).clamp(0.05, 5)) do
          now = Clock.now
          @idle.keys.each { |connection| drop(connection) if connection.expires <= now || !connection.reusable? }
          @timer.cancel if @idle.empty?
        end
      end

      def drop_old(now)
        drop_oldest while @idle.size > MAX_IDLE || (@idle.any? && @idle.first[0].expires < now)
      end

      def drop_oldest = drop(@idle.first[0])

      def drop(connection)
        origin = @idle.delete(connection)
        origin.idle.delete(connection)
        connection.abort
        remove_unused(connection.origin, origin)
      end
    end
  end
end
