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
        begin
          place.permits.acquire(timeout: deadlines.left(:pool_timeout))
        rescue Exception => error # standard:disable Lint/RescueException
          leave(key, place)
          raise error.is_a?(TimeoutError) ? exhausted(request, deadlines) : error
        end
        begin
          connection = (idle(place) unless fresh) || connect(request, deadlines)
        rescue Exception # standard:disable Lint/RescueException
          place.permits.release
          leave(key, place)
          raise
        end
        @in_use[connection] = true
        connection
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

      def connect(request, deadlines)
        stream, proxied = @connector.connect(request, deadlines.left(:connect_timeout))
        ClientConnection.new(stream, request.origin, proxied: proxied) { |connection| take_back(connection) }
      end

      def exhausted(request, deadlines)
        deadlines.left(:pool_timeout) # raises when the time of all is over
        TimeoutError.new("no connection to #{request.url.hostname}:#{request.url.port} came free: all #{@limit} are in use. Read responses with " \
          "stream: true to their end, or close them; or allow more by connections:")
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
        limit = Clock.now - @keep_alive
        while (connection = place.idle.pop)
          @idle.delete(connection)
          return connection if connection.idle_since > limit && connection.reusable?
          connection.abort
        end
      end

      def take_back(connection)
        return unless @in_use.delete(connection)
        place = @origins[connection.origin]
        if connection.reusable?
          place.idle << connection.rest
          @idle[connection] = place
          drop_old(connection.idle_since)
        elsif !connection.handed_over?
          connection.stream.close
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

      def drop_old(now)
        drop_oldest while @idle.size > MAX_IDLE || (@idle.any? && @idle.first[0].idle_since < now - @keep_alive)
      end

      def drop_oldest
        connection, place = @idle.shift
        place.idle.shift.abort
        forget(connection.origin, place)
      end
    end
  end
end
