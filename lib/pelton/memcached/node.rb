# frozen_string_literal: true

require_relative "address"
require_relative "connection"

module Pelton
  module Memcached
    # The server is down: several connections to it, one after the other, have failed or ended without a reply. It is asked
    # again from time to time; until it answers, its operations fail at once instead of waiting. `cause` is what the last
    # connection failed with.
    class DownError < ConnectionError
    end

    # A server, as one client sees it: where it is, whether it is up, and the connections to it, one for each thread. A
    # child after a fork gets its own.
    #
    # @private
    class Node
      # @return [Address]
      attr_reader :address

      # @param timeout [Numeric, nil] seconds without progress after which a connection ends
      # @param connect_timeout [Numeric] seconds
      # @param failure_limit [Integer] connections without a reply after which it is down
      # @param retry_after [Numeric] seconds
      # @param operations [Integer] that may be owed before direct style waits
      # @param bytes [Integer] that may be queued, likewise
      # @param protocol [Symbol, nil] :meta or :classic; nil: the server is asked
      # @param lanes [Integer] connections that a thread may have
      # @param tls [TLS::Context, Hash, true, nil] as {Pelton.connect} takes it
      def initialize(address, timeout:, connect_timeout:, operations:, bytes:, failure_limit: 3, retry_after: 1, protocol: nil,
        lanes: 1, tls: nil)
        @address = address
        @connect_timeout = connect_timeout
        @timeout = timeout
        @failure_limit = failure_limit
        @retry_after = retry_after
        @protocol = protocol
        @tls = tls
        @options = [address.to_s.freeze, operations, bytes, timeout].freeze
        @lanes = Array.new(lanes) { {}.compare_by_identity } # each thread's connection
        @mutex = Thread::Mutex.new
        @closed = false
        @failures = 0
        @retry_at = 0
      end

      # This thread's connection, which may still be connecting, or have failed to connect.
      #
      # @param in_place [Boolean] it must be connected on return, or have failed
      # @param timeout [Numeric, nil] seconds that whoever waits in place has
      # @return [Connection]
      # @raise [ClosedError] after {#close}
      # @asynchronous
      def connection(in_place, timeout = nil, lane = 0)
        fresh = nil
        connections = @lanes[lane]
        connection = @mutex.synchronize do
          raise ClosedError, "the client is closed" if @closed
          present = connections[Thread.current]
          next present if present && !present.closed? && (present.connected? || !in_place)
          forget_the_dead
          next refusing if failed_too_often? && !try_again?
          connections[Thread.current] = fresh = Connection._new(*@options)
        end
        fresh&.open(in_place, [@connect_timeout, *timeout].min, @protocol) { |seconds| connect(seconds) }
        connection
      end

      # Whether its operations fail at once.
      def down? = @mutex.synchronize { count_the_dead && failed_too_often? }

      # Whether it is down and may be asked again.
      def due? = down? && @retry_at <= Clock.now

      # Asks a server that is down whether it is up, by a connection of its own.
      #
      # @asynchronous
      def ask
        @mutex.synchronize { @retry_at = Clock.now + @retry_after }
        stream = connect(@connect_timeout)
        stream.write("version\r\n")
        line = stream.gets("\r\n", limit: 1024, timeout: @timeout || @connect_timeout)
        @mutex.synchronize { @failures = 0 } if line&.start_with?("VERSION ")
      rescue ConnectionError, LimitError
        nil # still down
      ensure
        stream&.close
      end

      # Closes the connections of all threads. What they owe fails by {ClosedError}.
      def close
        connections = @mutex.synchronize do
          @closed = true
          @lanes.flat_map { |lane| lane.values.tap { lane.clear } }
        end
        connections.each { |connection| connection._fail(ClosedError.new("the client was closed")) }
      end

      private

      def connect(timeout)
        return Pelton.connect_unix(address.path, timeout: timeout) if address.path
        Pelton.connect(address.host, address.port, timeout: timeout, tls: @tls)
      end

      # A thread that has ended needs its connection no more.
      def forget_the_dead
        count_the_dead
        forget do |connection, thread|
          connection._fail(ClosedError.new("its thread has ended")) || true unless thread.alive?
        end
      end

      # What ended by the server's fault, or on the way to it.
      def count_the_dead
        forget do |connection|
          next unless connection.closed?
          count(connection) if connection._error.is_a?(ConnectionError)
          true
        end
      end

      # Those for which the block is true.
      def forget
        @lanes.each { |lane| lane.delete_if { |thread, connection| yield connection, thread } }
      end

      def count(connection)
        @failures = connection._replied? ? 1 : @failures + 1
        @error = connection._error
        @retry_at = Clock.now + @retry_after
      end

      def failed_too_often?
        @failures >= @failure_limit && @lanes.none? { |lane| lane.each_value.any?(&:_replied?) }
      end

      # One connection at a time finds out; others fail meanwhile.
      def try_again?
        @retry_at <= Clock.now && @retry_at = Clock.now + @retry_after
      end

      def refusing
        error = begin
          raise DownError, "memcached at #{address} is down, and is asked again in a moment (#{@error.message})", cause: @error
        rescue DownError => error
          error
        end
        Connection._new(*@options).tap { |connection| connection._fail(error) }
      end
    end
  end
end
