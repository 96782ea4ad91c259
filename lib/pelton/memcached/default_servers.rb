# frozen_string_literal: true

require_relative "server"

module Pelton
  module Memcached
    # The servers of a client that names none: the ones in the environment's MEMCACHE_SERVERS
    # ("10.0.0.1:11211,10.0.0.2"), or else an embedded server, which all such clients of this process share. It runs in
    # a thread of its own until the process ends, on a free port of 127.0.0.1.
    module DefaultServers
      VARIABLE = "MEMCACHE_SERVERS"

      @lock = Mutex.new

      class << self
        # @return [Array<String>]
        # @raise [ConnectionError] the embedded server cannot listen
        def addresses
          named = ENV[VARIABLE].to_s.split(",").map(&:strip).reject(&:empty?)
          named.any? ? named : embedded.addresses
        end

        # The embedded server, running. A child after a fork gets one of its own.
        #
        # @return [Server]
        def embedded
          @lock.synchronize do
            # This thread may run a reactor, and the server would end with it. A new thread has none.
            @embedded = Thread.new { start }.value unless @embedded&.running?
            @embedded
          end
        end

        private

        def start
          Thread.current.report_on_exception = false
          Server.start
        end
      end
    end
    private_constant :DefaultServers
  end
end
