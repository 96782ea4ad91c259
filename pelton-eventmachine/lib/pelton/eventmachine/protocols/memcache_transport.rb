# frozen_string_literal: true

module EventMachine
  module Protocols
    # The transport of a {Memcache} connection, which has no socket: Pelton's client has them.
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
