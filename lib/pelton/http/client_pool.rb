# frozen_string_literal: true

require_relative "client_connection"
require_relative "client_connector"

module Pelton
  module HTTP
    # The connections of one client on one thread: to each origin so many, kept open between requests.
    # @private
    class ClientPool
      # Those of one origin. permits: how many more there may be in use; idle: the longest first.
      Origin = Struct.new(:permits, :idle, :users)

      # Idle connections to all origins. Beyond, the one that has been idle longest is closed.
      MAX_IDLE = 100

      def initialize(limit:, keep_alive:, **settings)
        @limit = limit
        @keep_alive = keep_alive
        @connector = ClientConnector.new(**settings)
        @origins = {}
        @thread = Thread.current
        @in_use = {}.compare_by_identity
        @idle = {}.compare_by_identity # of all origins, the longest first; each with its Origin
        @reactor = Reactor.current
        @lost = []
      end

      # A connection for a request: an idle one, or a new one. The connection comes back by itself.
      #
      # @param fresh [Boolean] not an idle one
      # @raise [TimeoutError, ConnectionError]
      # @asynchronous
      def take(request, deadlines, fresh: false)
        reclaim if @lost.any?
        key = request.origin
        place = @origins[key] ||= Origin.new(Semaphore.new(@limit), [], 0)
        place.users += 1
        held = acquire(place, request, deadlines)
        connection = (idle(place) unless fresh) || connect(request, deadlines)
        @in_use[connection] = true
        connection
      ensure # a throw may leave it, too: Ruby's Timeout does so
        if place && !connection
          place.permits.release if held
          leave(key, place)
        end
      end

      # Takes a connection back when nobody can read its response any more.
      def watch(response, connection)
        ObjectSpace.define_finalizer(response, finalizer(connection, connection.busy))
      end

      # Closes what is idle.
      def close
        drop_oldest while @idle.any?
      end

      def stats = {open: @idle.size + @in_use.size, idle: @idle.size}

      def alive? = @thread.alive?

      private

      def acquire(place, request, deadlines)
        place.permits.acquire(timeout: deadlines.left(:pool_timeout))
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
        request.named(deadlines.over(:pool_timeout, "no connection came free: all #{@limit} are in use. Read responses with stream: true to " \
          "their end, or close them; or allow more by connections:"))
      end

      # It may run in the middle of anything, so it does nothing but leave word.
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

      # The one that was used last is the least likely to have been closed.
      def idle(place)
        now = Clock.now
        while (connection = place.idle.pop)
          @idle.delete(connection)
          return connection if connection.expires > now && connection.reusable?
          connection.abort
        end
      end

      def take_back(connection)
        return unless @in_use.delete(connection)
        place = @origins[connection.origin]
        if connection.reusable?
          place.idle << connection.rest(@keep_alive)
          @idle[connection] = place
          drop_old(Clock.now)
          look_after
        elsif !connection.handed_over?
          connection.leave
        end
        place.permits.release
        leave(connection.origin, place)
      end

      # An origin that nobody uses, and to which nothing is open, is forgotten: there may be millions of them.
      def leave(key, place)
        place.users -= 1
        forget(key, place)
      end

      def forget(key, place)
        @origins.delete(key) if place.users.zero? && place.idle.empty?
      end

      # While a reactor runs, what is idle for too long, or was closed by its server, is closed though nobody asks for
      # anything. The timer keeps nobody's run going.
      def look_after
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
        place = @idle.delete(connection)
        place.idle.delete(connection)
        connection.abort
        forget(connection.origin, place)
      end
    end
  end
end
