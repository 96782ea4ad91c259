# frozen_string_literal: true

module Pelton
  module Memcached
    # A pipelined connection to a server: the commands of a tick leave together, and replies belong to the operations in
    # order. When it ends all pending operations fail, and it is never used again. Most of it is in C.
    #
    # @private
    class Connection
      # Connects by the block, which returns a {Stream} whose server speaks the meta protocol. Commands queue
      # meanwhile. If the block fails, they fail with its error.
      #
      # @param in_place [Boolean] whether this fiber connects. Otherwise a task does: the first caller may be cancelled
      #   while others wait for the same connection.
      # @asynchronous
      def open(in_place, &connect)
        return open_here(&connect) if in_place
        Task.spawn { _attach(connect.call) }.errback do |error|
          _fail(error.is_a?(StandardError) ? error : interrupted)
        end
      end

      private

      def open_here
        _attach(yield)
      rescue => error
        _fail(error)
      ensure
        _fail(interrupted) unless connected?
      end

      def interrupted = ClosedError.new("connecting was interrupted")
    end
  end
end
