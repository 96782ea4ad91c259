# frozen_string_literal: true

module Pelton
  module Memcached
    # A pipelined connection to a server: the commands of a tick leave together, and replies belong to the operations in
    # order. When it ends all pending operations fail, and it is never used again. Most of it is in C.
    #
    # @private
    class Connection
      HINT = " (a proxy that does not know mn needs protocol: :classic)"
      # The beginnings of an answer whose rest never came.
      CUT = %W[MN\r\n ERROR\r\n].flat_map { |answer| (1...answer.size).map { |length| answer[0, length] } }.freeze
      private_constant :HINT, :CUT

      # Connects by the block, which gets the remaining seconds and returns a {Stream}. Commands queue meanwhile. If the
      # block fails, they fail with its error.
      #
      # @param in_place [Boolean] whether this fiber connects. Otherwise a task does: the first caller may be cancelled
      #   while others wait for the same connection.
      # @param timeout [Numeric] seconds until the connection must be usable
      # @param protocol [Symbol, nil] :meta or :classic; nil: ask the server whether it knows meta commands
      # @asynchronous
      def open(in_place, timeout, protocol = nil, &connect)
        return open_here(timeout, protocol, &connect) if in_place
        Task.spawn { attach(timeout, protocol, &connect) }.errback do |error|
          _fail(error.is_a?(StandardError) ? error : interrupted)
        end
      end

      private

      def attach(timeout, protocol)
        deadline = Clock.now + timeout
        stream = yield timeout
        classic = protocol ? protocol == :classic : without_meta?(stream, deadline)
        _attach(stream, classic)
        attached = true
      ensure # also of one that was cancelled
        stream&.close unless attached
      end

      # Sends a command without an effect. An old server would read the value of a meta set as commands, so it must
      # never get one.
      def without_meta?(stream, deadline)
        stream.write("mn\r\n")
        case (line = stream.gets("\r\n", limit: 2048, timeout: Clock.left(deadline)))
        when "MN\r\n" then false
        when "ERROR\r\n" then true
        when nil, *CUT
          raise ConnectionError, "the server closed the connection when it was asked for its protocol#{HINT}"
        else raise ProtocolError, "no memcached answers there, but #{line.dump}#{HINT}"
        end
      rescue TimeoutError
        raise TimeoutError, "the server accepted the connection but does not answer"
      end

      def open_here(timeout, protocol, &connect)
        attach(timeout, protocol, &connect)
      rescue => error
        _fail(error)
      ensure
        _fail(interrupted) unless connected?
      end

      def interrupted = ClosedError.new("connecting was interrupted")
    end
  end
end
