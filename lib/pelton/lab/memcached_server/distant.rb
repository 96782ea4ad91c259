# frozen_string_literal: true

module Pelton
  module Lab
    class MemcachedServer
      # A memcached that runs already, named by `--server`. Others may use it: it is not counted what it does. To stall it,
      # a proxy stands before it and is stopped instead.
      class Distant < MemcachedServer
        attr_reader :stallable

        # @param address [String] "host:port"
        # @raise [UsageError] when it is something else
        # @raise [Unavailable] when no memcached answers there
        def initialize(processes, core, address, stalls: false)
          super()
          @address = address
          @host, @port = /\A\[?(.+?)\]?:(\d+)\z/.match(address)&.captures || raise(UsageError, "#{address.inspect} is no HOST:PORT")
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

        def counters
          nil
        end
      end
    end
  end
end
