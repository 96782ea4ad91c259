# frozen_string_literal: true

module Pelton
  module Lab
    class MemcachedServer
      # A running memcached, named by `--server`. Its counters are not checked, because other programs may use it. A
      # proxy in front of it is stopped to stall it.
      class Remote < MemcachedServer
        attr_reader :stallable

        # @param address [String] "host:port"
        # @raise [UsageError] for another format
        # @raise [Unavailable] when no memcached answers there
        def initialize(processes, core, address, stalls: false)
          super()
          @address = address
          @host, @port = /\A\[?(.+?)\]?:(\d+)\z/.match(address)&.captures || raise(UsageError,
            "#{address.inspect} is not HOST:PORT")
          version
          return unless stalls
          @stallable, @port = processes.serve_ruby("latency_proxy.rb", "--to", "#{host}:#{port}", core:)
          @host = "127.0.0.1"
        end

        def version
          @version ||= "memcached #{stats.fetch("version")} at #{@address}"
        rescue SystemCallError, SocketError, KeyError => error
          raise Unavailable, "no memcached answers at #{@address} (#{error.message})"
        end

        def counters = nil
      end
    end
  end
end
