# frozen_string_literal: true

require_relative "connection"
require_relative "connector"

module Pelton
  module HTTP
    # The connections of one client on one thread, up to a limit for each origin. They stay open between requests.
    #
    # A trap handler may wait in the middle of any method, and other requests use the pool meanwhile. So a connection
    # keeps its Origin, which may have been removed or made twice by then; and what is taken from a table may be gone
    # from the other one.
    # @private
    class ClientPool
      include Opaque

      # The connections to one origin, whose key it has. permits: a semaphore that counts the free ones; idle: the
      # longest idle first; users: the requests that wait or run.
      Origin = Struct.new(:key, :permits, :idle, :users) { include Opaque }

      # The most idle connections to all origins. Beyond, the connection that has been idle longest is closed.
      MAX_IDLE = 100

      def initialize(concurrency:, keep_alive:, **settings)
        @concurrency = concurrency
        @keep_alive = keep_alive
        @connector = ClientConnector.new(**settings)
        @origins = {}
        @thread = Thread.current
        @in_use = {}.compare_by_identity # connection => its Origin
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
        origin = origin_of(request.origin)
        origin.users += 1
        permitted = acquire(origin, request, deadlines)
        connection = (idle(origin) unless fresh) || connect(request, deadlines)
        @in_use[connection] = origin
        connection
      ensure # Ruby's Timeout leaves by throw
        if origin && !connection
          origin.permits.release if permitted
          leave(origin)
        end
      end

      # Takes a connection back when the garbage collector finds that its response cannot be read any more.
      def watch(response, connection) = ObjectSpace.define_finalizer(response, finalizer(connection, connection.busy))

      # Closes the idle connections.
      def close
        drop_oldest while @idle.any?
      end

      def stats = {open: @idle.size + @in_use.size, idle: @idle.size}

      def alive? = @thread.alive?

      private

      def origin_of(key)
        @origins[key] || begin
          made = Origin.new(key, Semaphore.new(@concurrency), [], 0)
          @origins[key] ||= made
        end
      end

      def acquire(origin, request, deadlines)
        origin.permits.acquire(timeout: deadlines.left(:pool_timeout))
      rescue TimeoutError
        raise exhausted(request, deadlines)
      end

      def connect(request, deadlines)
        stream, proxied = @connector.connect(request, deadlines.left(:connect_timeout))
        ClientConnection.new(stream, request.origin, proxied: proxied) { |connection| take_back(connection) }
      rescue TimeoutError => error
        raise request.named(deadlines.over(:connect_timeout,
          "#{error.message}: the server is slow, or connect_timeout: too short"))
      rescue Error => error
        raise request.named(error)
      end

      def exhausted(request, deadlines)
        request.named(deadlines.over(:pool_timeout, "no connection became free: all #{@concurrency} are in use. Read responses with stream: true to their end, " \
          "or close them; or raise concurrency:"))
      end

      # A finalizer may run in the middle of any code, so it only leaves a note.
      def finalizer(connection, request)
        lambda do |_|
          @lost << [connection, request]
          @reactor.next_tick { reclaim } if alive?
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
        origin = @in_use.delete(connection) or return
        if connection.reusable?
          @idle[connection.begin_idle(@keep_alive)] = origin
          origin.idle << connection
          drop_old(Clock.now)
          start_cleaning
        elsif !connection.handed_over?
          connection.leave
        end
        origin.permits.release
        leave(origin)
      end

      # Removes an origin without users and connections: a client may see millions of origins.
      def leave(origin)
        origin.users -= 1
        remove_unused(origin)
      end

      def remove_unused(origin)
        @origins.delete(origin.key) if origin.users.zero? && origin.idle.empty? && origin.equal?(@origins[origin.key])
      end

      # While a reactor runs, closes connections that have been idle for too long, or that the server has closed,
      # without waiting for the next request. The timer does not keep a run going.
      def start_cleaning
        return if @timer&.active? || !Pelton.running?
        @timer = timer = Pelton.add_periodic_timer((@keep_alive / 4.0).clamp(0.05, 5)) do
          now = Clock.now
          @idle.keys.each { |connection| drop(connection) if connection.expires <= now || !connection.reusable? }
          timer.cancel if @idle.empty? # not @timer: a second one may have been made meanwhile
        end
      end

      def drop_old(now)
        drop_oldest while @idle.size > MAX_IDLE || @idle.each_key.first&.then { |oldest| oldest.expires < now }
      end

      def drop_oldest = @idle.each_key.first&.then { |connection| drop(connection) }

      def drop(connection)
        origin = @idle.delete(connection) or return
        origin.idle.delete(connection)
        connection.abort
        remove_unused(origin)
      end
    end
  end
end
