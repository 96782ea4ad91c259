# frozen_string_literal: true

require "socket"
require_relative "programs"

module Pelton
  module Lab
    # The memcached that contenders talk to: see {.start} for which one it is.
    class MemcachedServer
      # @return [String]
      attr_reader :host
      # @return [Integer]
      attr_reader :port

      # Starts a memcached that is installed, else Pelton's own in a process of its own; or takes one that runs.
      #
      # @param core [Integer, nil] the core it is bound to
      # @param address [String, nil] "host:port" of one to use
      # @param stalls [Boolean] whether {#stall} will be asked of it
      # @raise [Unavailable] when it does not answer
      def self.start(processes, core, address = nil, stalls: false)
        return Distant.new(processes, core, address, stalls:) if address
        (Programs.find("memcached") ? Installed : Embedded).new(processes, core)
      end

      # @return [Hash{String => String}] what the server says of itself
      def stats
        TCPSocket.open(host, port) do |socket|
          socket.write("stats\r\n")
          lines = socket.each_line.lazy.map(&:chomp).take_while { |line| line != "END" }
          lines.to_h { |line| line.split(" ", 3).last(2) }
        end
      end

      # What it has counted since its start, by name; nil where it counts for others, too.
      # @return [Hash{Symbol => Integer}, nil]
      def counters
        stats.slice("cmd_set", "get_hits", "get_misses", "delete_hits", "delete_misses").to_h { |name, count| [name.to_sym, count.to_i] }
      end

      # Stops it for some seconds: it takes bytes and answers nothing, as a server does whose host swaps.
      def stall(seconds)
        Process.kill(:STOP, stallable)
        sleep seconds
      ensure
        Process.kill(:CONT, stallable)
      end
    end
  end
end

require_relative "memcached_server/distant"
require_relative "memcached_server/embedded"
require_relative "memcached_server/installed"
