# frozen_string_literal: true

module Pelton
  module Memcached
    # A value whose bytes may still be arriving: {Client#stream}. It is a Rack body. Pelton's HTTP server passes the
    # bytes from socket to socket, without receiving them, as long as the client accepts them at once.
    #
    # Other replies wait for the value's end. If passing on has not begun by the next loop iteration, or as soon as the
    # client is too slow, the rest is received into memory, as {Client#get} does.
    class ValueStream
      # @!method bytesize
      #   @return [Integer] the size of the whole value

      # @!method close
      #   Drops the rest. It may be called more than once.
      #   @return [nil]

      # @return [String] the value, or the part that has not been passed on
      # @raise [ConnectionError, TimeoutError] the rest did not arrive
      # @asynchronous
      def read = _rest || +""

      # @yieldparam part [String] the bytes that have not been passed on; not called if there are none
      # @return [self]
      # @raise (see #read)
      # @asynchronous
      def each
        rest = _rest
        yield rest if rest
        self
      end
    end
  end
end
