# frozen_string_literal: true

require "socket"
require_relative "programs"

module Pelton
  module Lab
    # The memcached of the contenders.
    class MemcachedServer
      # @return [String]
      attr_reader :host
      # @return [Integer]
      attr_reader :port

      # Starts the installed memcached, or Pelton's in a separate process if there is none; or uses a running one.
      #
      # @param core [Integer, nil] the core it is bound to
      # @param address [String, nil] "host:port" of the running one
      # @param stalls [Boolean] whether {#stall} will be called
      # @raise [Unavailable] when it does not answer
      def self.start(processes, core, address = nil, stalls: false)
        return Remote.new(processes, core, address, stalls:) if address
        (Programs.find("memcached") ? Installed : Embedded).new(processes, core)
      end

      # @return [Hash{String => String}] the server's reply to the command stats
      def stats
        TCPSocket.open(host, port) do |socket|
          socket.write("stats\r\n")
          lines = socket.each_line.lazy.map(&:chomp).take_while { |line| line != "END" }
          lines.to_h { |line| line.split(" ", 3).last(2) }
        end
      end

      # Its counters since its start, by name; nil where it may serve other clients.
      # @return [Hash{Symbol => Integer}, nil]
      def counters
        stats.slice("cmd_set", "get_hits", "get_misses", "delete_hits", "delete_misses").to_h do |name, count|
          [name.to_sym, count.to_i]
        end
      end

      # Stops it for some seconds: the kernel takes bytes for it and nothing is answered, as when a host swaps.
      def stall(seconds)
        Process.kill(:STOP, stallable)
        sleep seconds
      ensure
        Process.kill(:CONT, stallable)
      end
    end
  end
end

require_relative "memcached_server/remote"
require_relative "memcached_server/embedded"
require_relative "memcached_server/installed"
