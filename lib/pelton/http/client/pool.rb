# frozen_string_literal: true

require_relative "connection"
require_relative "connector"
require_relative "http2_connection"

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
      # longest idle first; users: the requests that wait or run. shared: the connection in use of HTTP/2; making: an
      # Operation while a connection is made that may become it; http1: the origin does not speak HTTP/2.
      Origin = Struct.new(:key, :permits, :idle, :users, :shared, :making, :http1) { include Opaque }

      # The most idle connections to all origins. Beyond, the connection that has been idle longest is closed.
      MAX_IDLE = 100

      # @param http2 [Boolean, :prior_knowledge]
      def initialize(concurrency:, keep_alive:, http2: false, **settings)
        @concurrency = concurrency
        @keep_alive = keep_alive
        @http2 = http2
        @connector = ClientConnector.new(**settings)
        @origins = {}
        @thread = Thread.current
        @in_use = {}.compare_by_identity # connection => its Origin
        @idle = {}.compare_by_identity # of all origins, the longest idle first; each with its Origin
        @reactor = Reactor.current
        @lost = []
      end

      # Takes an idle connection or makes a new one; or begins an exchange on the connection of HTTP/2 that all requests
      # to the origin share. What it returns comes back to the pool by itself.
      #
      # @param fresh [Boolean] whether a connection of HTTP/1.1 must be new
      # @return [ClientConnection, ClientHttp2Exchange]
      # @raise [TimeoutError, ConnectionError]
      # @asynchronous
      def take(request, deadlines, fresh: false)
        reclaim if @lost.any?
        http2 = http2?(request)
        origin = origin_of(http2 ? request.origin : [*request.origin, :http1])
        origin.users += 1
        taken = http2 ? share(origin, request, deadlines, fresh) : own(origin, request, deadlines, fresh)
      rescue Error => error
        raise request.named(error)
      ensure # Ruby's Timeout leaves by throw
        leave(origin) unless origin.nil? || taken.is_a?(ClientConnection)
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

      # Whether the request may go by HTTP/2.
      def http2?(request)
        @http2 && (request.tls? || @http2 == :prior_knowledge) && !request.upgrades?
      end

      # A connection for one request.
      def own(origin, request, deadlines, fresh = false)
        permitted = acquire(origin, deadlines)
        connection = (idle(origin) unless fresh) || connect(request, deadlines)
        @in_use[connection] = origin
        connection
      ensure
        origin.permits.release if permitted && (!connection || connection.http2?)
      end

      # An exchange on the connection that requests share; or a connection, if the origin speaks HTTP/1.1.
      def share(origin, request, deadlines, fresh)
        loop do
          if origin.shared&.usable?
            exchange = begin_exchange(origin, deadlines) and return exchange
          elsif origin.making
            await_making(origin.making, deadlines)
          else
            connection = origin.http1 ? own(origin, request, deadlines, fresh) : make_first(origin, request, deadlines)
            return connection unless connection.http2?
            adopt(origin, connection)
          end
        end
      end

      def begin_exchange(origin, deadlines)
        till = deadlines.till(:pool_timeout)
        origin.users += 1
        origin.shared.open(till)
      rescue TimeoutError
        raise deadlines.over(:pool_timeout, "the server allowed no further request: its limit of streams is reached. " \
          "Read responses with stream: true to their end, or close them")
      end

      # Several servers behind one name may speak different protocols: then it is one of several that were made at once.
      def adopt(origin, connection)
        return origin.shared = connection unless origin.shared&.usable?
        @in_use.delete(connection)
        connection.leave
      end

      # Makes the connection that shows which protocol the origin speaks, while others wait for it.
      def make_first(origin, request, deadlines)
        origin.making = making = Operation.new
        own(origin, request, deadlines).tap { |connection| origin.http1 = !connection.http2? }
      rescue TimeoutError # of this request: others may have more time
        raise
      rescue Error => error
        failure = error
        raise
      ensure
        origin.making = nil
        making.succeed(failure)
      end

      # Waits for the connection that another request makes. What made that impossible concerns all.
      def await_making(making, deadlines)
        failure = making.await(timeout: deadlines.left(:pool_timeout))
        raise failure.exception(failure.message) if failure
      rescue TimeoutError
        raise exhausted(deadlines)
      end

      def acquire(origin, deadlines)
        origin.permits.acquire(timeout: deadlines.left(:pool_timeout))
      rescue TimeoutError
        raise exhausted(deadlines)
      end

      # Libraries that stub requests may be loaded after the client.
      def connect(request, deadlines)
        raise Integrations::Arrival if Integrations.load(:client)
        http2 = http2?(request)
        stream, proxied = @connector.connect(request, deadlines.left(:connect_timeout), http2: http2)
        if http2 && (request.tls? ? stream.tls.alpn == "h2" : !proxied)
          return ClientHttp2Connection.new(stream, request.origin) { |connection| end_exchange(connection) }
        end
        ClientConnection.new(stream, request.origin, proxied: proxied) { |connection| take_back(connection) }
      rescue TimeoutError => error
        raise deadlines.over(:connect_timeout, "#{error.message}: the server is slow, or connect_timeout: too short")
      end

      def exhausted(deadlines)
        deadlines.over(:pool_timeout, "no connection became free: all #{@concurrency} are in use. Read responses " \
          "with stream: true to their end, or close them; or raise concurrency:")
      end

      # A finalizer may run in the middle of any code, so it only leaves a note.
      def finalizer(connection, request)
        lambda do |_|
          @lost << [connection, request]
          @reactor.next_tick { reclaim } if alive?
        rescue ClosedError
          nil # a child after a fork: the connection is its parent's
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
        origin.shared = nil if connection.equal?(origin.shared)
        if connection.reusable?
          @idle[connection.begin_idle(@keep_alive)] = origin
          origin.idle << connection
          drop_old(Clock.now)
          start_cleaning
        elsif !connection.handed_over?
          connection.leave
        end
        origin.permits.release unless connection.http2?
        leave(origin)
      end

      # A request by HTTP/2 is over. With the last one, the connection becomes idle.
      def end_exchange(connection)
        connection.idle? ? take_back(connection) : @in_use[connection]&.then { |origin| leave(origin) }
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
