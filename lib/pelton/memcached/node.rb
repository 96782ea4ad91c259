# frozen_string_literal: true

require_relative "address"
require_relative "connection"

module Pelton
  module Memcached
    # A server, as one client sees it: where it is, and the connections to it, one for each thread. A child after a fork
    # gets its own.
    #
    # @private
    class Node
      # @return [Address]
      attr_reader :address

      # @param timeout [Numeric, nil] seconds without progress after which a connection ends
      # @param connect_timeout [Numeric] seconds
      # @param operations [Integer] that may be owed before direct style waits
      # @param bytes [Integer] that may be queued, likewise
      def initialize(address, timeout:, connect_timeout:, operations:, bytes:)
        @address = address
        @connect_timeout = connect_timeout
        @options = [address.to_s.freeze, operations, bytes, timeout].freeze
        @connections = {}.compare_by_identity
        @mutex = Thread::Mutex.new
        @closed = false
      end

      # This thread's connection, which may still be connecting, or have failed to connect.
      #
      # @param in_place [Boolean] it must be connected on return, or have failed
      # @return [Connection]
      # @raise [ClosedError] after {#close}
      # @asynchronous
      def connection(in_place)
        fresh = nil
        connection = @mutex.synchronize do
          raise ClosedError, "the client is closed" if @closed
          present = @connections[Thread.current]
          next present if present && !present.closed? && (present.connected? || !in_place)
          forget_the_dead
          @connections[Thread.current] = fresh = Connection._new(*@options)
        end
        fresh&.open(in_place) { connect }
        connection
      end

      # Closes the connections of all threads. What they owe fails by {ClosedError}.
      def close
        connections = @mutex.synchronize do
          @closed = true
          @connections.values.tap { @connections.clear }
        end
        connections.each { |connection| connection._fail(ClosedError.new("the client was closed")) }
      end

      private

      def connect
        return Pelton.connect_unix(address.path, timeout: @connect_timeout) if address.path
        Pelton.connect(address.host, address.port, timeout: @connect_timeout)
      end

      # A thread that has ended needs its connection no more.
      def forget_the_dead
        @connections.delete_if do |thread, connection|
          next if thread.alive? && !connection.closed?
          connection._fail(ClosedError.new("its thread has ended"))
          true
        end
      end
    end
  end
end
