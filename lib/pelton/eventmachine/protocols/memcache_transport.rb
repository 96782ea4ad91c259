# frozen_string_literal: true

module EventMachine
  module Protocols
    # Stands behind a {Memcache} connection, which has no socket of its own: Pelton's client has.
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
