# frozen_string_literal: true

require_relative "address"
require_relative "connection"
require_relative "first_question"

module Pelton
  module Memcached
    # The server is down: several connections to it in a row have failed or ended without a reply. The client asks it
    # again from time to time; until it answers, its operations fail at once instead of waiting. `cause` is the last
    # connection's error.
    class DownError < ConnectionError
    end

    # A server from the client's point of view: its address, whether it is up, and each thread's connections to it. A
    # child after a fork gets its own.
    #
    # @private
    class Node
      # @return [Address]
      attr_reader :address

      # @param timeout [Numeric, nil] seconds without progress after which a connection ends
      # @param connect_timeout [Numeric] seconds
      # @param failure_limit [Integer] connections in a row without a reply after which the server is down
      # @param retry_after [Numeric] seconds
      # @param operations [Integer] pending operations of a connection, beyond which direct style waits
      # @param bytes [Integer] queued bytes of a connection, beyond which direct style waits
      # @param slots [Integer] the number of connections of each thread
      # @param tls [TLS::Context, Hash, true, nil] as {Pelton.connect} takes it
      def initialize(address, timeout:, connect_timeout:, operations:, bytes:, failure_limit: 3, retry_after: 1,
        slots: 1, tls: nil)
        @address = address
        @connect_timeout = connect_timeout
        @failure_limit = failure_limit
        @retry_after = retry_after
        @tls = tls
        @options = [address.to_s.freeze, operations, bytes, timeout].freeze
        @slots = Array.new(slots) { {}.compare_by_identity } # in each connection slot every thread's connection
        @mutex = Thread::Mutex.new
        @closed = false
        @failures = 0
        @retry_at = 0
      end

      # This thread's connection in a slot. It may be connecting still, or have failed to connect.
      #
      # @param in_place [Boolean] whether it must be connected on return, or have failed
      # @param timeout [Numeric, nil] seconds that a caller who waits in place may wait
      # @return [Connection]
      # @raise [ClosedError] after {#close}
      # @asynchronous
      def connection(in_place, timeout = nil, slot = 0)
        fresh = nil
        connections = @slots[slot]
        connection = @mutex.synchronize do
          raise ClosedError, "the client is closed" if @closed
          present = connections[Thread.current]
          next present if present && !present.closed? && (present.connected? || !in_place)
          remove_dead
          next refused if failed_too_often? && !try_again?
          connections[Thread.current] = fresh = Connection._new(*@options)
        end
        fresh&.open(in_place) { connect([@connect_timeout, *timeout].min) }
        connection
      end

      # Whether operations for this server fail at once.
      def down? = @mutex.synchronize { count_failures && failed_too_often? }

      # Whether the server is down and may be asked again.
      def due? = down? && @retry_at <= Clock.now

      # Asks a server that is down whether it is up again, on a connection of its own.
      #
      # @asynchronous
      def ask
        @mutex.synchronize { @retry_at = Clock.now + @retry_after }
        stream = connect(@connect_timeout)
        @mutex.synchronize { @failures = 0 }
      rescue ConnectionError, TimeoutError
        nil # still down
      ensure
        stream&.close
      end

      # Closes the connections of all threads. Pending operations fail with {ClosedError}.
      def close
        connections = @mutex.synchronize do
          @closed = true
          @slots.flat_map { |connections| connections.values.tap { connections.clear } }
        end
        connections.each { |connection| connection._fail(ClosedError.new("the client was closed")) }
      end

      private

      # A stream to the server, which has answered the {FirstQuestion}.
      #
      # @param timeout [Numeric] seconds until it has
      def connect(timeout)
        deadline = Clock.now + timeout
        stream = connect_stream(timeout)
        FirstQuestion.new(address, stream, deadline).ask
        usable = true
        stream
      ensure # also of one that was cancelled
        stream&.close unless usable
      end

      def connect_stream(timeout)
        return Pelton.connect_unix(address.path, timeout: timeout) if address.path
        Pelton.connect(address.host, address.port, timeout: timeout, tls: @tls)
      end

      # Removes closed connections, and closes the connections of threads that have ended.
      def remove_dead
        count_failures
        remove_if do |connection, thread|
          connection._fail(ClosedError.new("its thread has ended")) || true unless thread.alive?
        end
      end

      # Removes closed connections, and counts those that the server or the network ended.
      def count_failures
        remove_if do |connection|
          next unless connection.closed?
          case connection._error when ConnectionError, TimeoutError then count(connection) end
          true
        end
      end

      def remove_if
        @slots.each { |connections| connections.delete_if { |thread, connection| yield connection, thread } }
      end

      # A server may close an idle connection; that alone is no failure.
      def count(connection)
        @failures = 0 if connection._replied?
        @failures += 1 unless connection._replied? && connection._ended_idle?
        @error = connection._error
        @retry_at = Clock.now + @retry_after
      end

      def failed_too_often?
        @failures >= @failure_limit && @slots.none? { |connections| connections.each_value.any?(&:_replied?) }
      end

      # One caller at a time tries a connection; the others fail meanwhile.
      def try_again? = @retry_at <= Clock.now && @retry_at = Clock.now + @retry_after

      # A connection that has failed already.
      def refused
        error = begin
          raise DownError, "memcached at #{address} is down and will be asked again soon (#{@error.message})",
            cause: @error
        rescue DownError => error
          error
        end
        Connection._new(*@options).tap { |connection| connection._fail(error) }
      end
    end
  end
end
