# frozen_string_literal: true

module Pelton
  module Memcached
    # A value whose bytes may still be on their way: {Client#stream}. It is a Rack body. Pelton's HTTP server passes the
    # bytes on from socket to socket, without receiving them, as long as the client takes them at once.
    #
    # Other replies wait behind the value. So, unless that has begun when the loop turns next, and as soon as the client is
    # too slow, the rest is received and kept, as {Client#get} does.
    class ValueStream
      # @!method bytesize
      #   @return [Integer] of the whole value

      # @!method close
      #   The rest is not wanted. Legal when it is closed.
      #   @return [nil]

      # @return [String] the value, or what has not been passed on
      # @raise [ConnectionError, TimeoutError] when the rest did not come
      # @asynchronous
      def read = _rest || +""

      # @yieldparam part [String] what has not been passed on, if that is anything
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
