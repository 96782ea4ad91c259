# frozen_string_literal: true

module EventMachine
  module Protocols
    # The transport of a {Memcache} connection, which has no socket of its own: Pelton's client has the sockets.
    #
    # @private
    class MemcacheTransport < Transport
      def close(_after_writing)
        return if @closing
        @closing = true
        EventMachine.next_tick { unbind }
      end

      def abandon = unbind
    end
  end
end
