# frozen_string_literal: true

module Pelton
  module Memcached
    # A pipelined connection to a server: commands gather and go out together, replies belong to the operations in order.
    # When it ends it fails each operation that it owes, and is never used again. (What it does is done in C.)
    #
    # @private
    class Connection
      HINT = " (a proxy that does not know mn needs protocol: :classic)"
      private_constant :HINT

      # Connects it by the block, which gets the seconds there are and returns a {Stream}. Commands gather meanwhile; when
      # the block fails, they fail by its error.
      #
      # @param in_place [Boolean] here and now. Otherwise in a task of its own: whoever asked first may be cancelled, and
      #   others wait for the same connection.
      # @param timeout [Numeric] seconds until it must be in use
      # @param protocol [Symbol, nil] :meta or :classic; nil: the server is asked whether it knows meta commands
      # @asynchronous
      def open(in_place, timeout, protocol = nil, &connect)
        return open_here(timeout, protocol, &connect) if in_place
        Task.spawn { attach(timeout, protocol, &connect) }.errback do |error|
          _fail(error.is_a?(StandardError) ? error : broken_off)
        end
      end

      private

      def attach(timeout, protocol)
        deadline = Clock.now + timeout
        stream = yield timeout
        classic = protocol ? protocol == :classic : knows_no_meta?(stream, deadline)
        _attach(stream, classic)
      rescue
        stream&.close
        raise
      end

      # A command that has no effect. An old server would read the value of a meta set as commands: so it is never sent
      # one.
      def knows_no_meta?(stream, deadline)
        stream.write("mn\r\n")
        case (line = stream.gets("\r\n", limit: 2048, timeout: Clock.left(deadline)))
        when "MN\r\n" then false
        when "ERROR\r\n" then true
        when nil then raise ConnectionError, "the server closed the connection when it was asked what it speaks#{HINT}"
        else raise ProtocolError, "what answers there is no memcached: #{line.dump}#{HINT}"
        end
      rescue TimeoutError
        raise TimeoutError, "the server accepted the connection and says nothing"
      end

      def open_here(timeout, protocol, &connect)
        attach(timeout, protocol, &connect)
      rescue => error
        _fail(error)
      ensure
        _fail(broken_off) unless connected?
      end

      def broken_off = ClosedError.new("the connecting was broken off")
    end
  end
end
