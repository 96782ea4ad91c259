# frozen_string_literal: true

module Pelton
  module Memcached
    # A pipelined connection to a server: commands gather and go out together, replies belong to the operations in order.
    # When it ends it fails each operation that it owes, and is never used again. (What it does is done in C.)
    #
    # @private
    class Connection
      # Connects it by the block, which returns a {Stream}. Commands gather meanwhile; when the block fails, they fail by
      # its error.
      #
      # @param in_place [Boolean] here and now. Otherwise in a task of its own: whoever asked first may be cancelled, and
      #   others wait for the same connection.
      # @asynchronous
      def open(in_place, &connect)
        return open_here(&connect) if in_place
        Task.spawn { _attach(connect.call._detach) }.errback do |error|
          _fail(error.is_a?(StandardError) ? error : broken_off)
        end
      end

      private

      def open_here
        _attach(yield._detach)
      rescue => error
        _fail(error)
      ensure
        _fail(broken_off) unless connected?
      end

      def broken_off = ClosedError.new("the connecting was broken off")
    end
  end
end
