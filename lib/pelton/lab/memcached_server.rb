# frozen_string_literal: true

require "socket"
require_relative "programs"

module Pelton
  module Lab
    # A memcached of the lab's own on 127.0.0.1, with one worker thread, so that it uses one core.
    class MemcachedServer
      attr_reader :port, :pid

      # @param core [Integer, nil] the core it is bound to
      # @raise [Unavailable] where memcached is not installed or does not start
      def initialize(processes, core, memory_mb: 256)
        @program = Programs.find("memcached") or raise Unavailable, "memcached is not installed"
        @processes = processes
        @core = core
        @memory_mb = memory_mb
        raise Unavailable, "memcached did not start" unless 5.times.any? { start }
      end

      # @return [Hash{String => String}] what the server says of itself
      def stats
        TCPSocket.open("127.0.0.1", port) do |socket|
          socket.write("stats\r\n")
          lines = socket.each_line.lazy.map(&:chomp).take_while { |line| line != "END" }
          lines.to_h { |line| line.split(" ", 3).last(2) }
        end
      end

      # What it has counted since its start, by name.
      # @return [Hash{Symbol => Integer}]
      def counters
        stats.slice("cmd_set", "get_hits", "get_misses", "delete_hits", "delete_misses").to_h { |name, count| [name.to_sym, count.to_i] }
      end

      def version
        @version ||= "memcached #{stats["version"]}, -t 1"
      end

      # Stops it for some seconds: it takes bytes and answers nothing, as a server does whose host swaps.
      def stall(seconds)
        Process.kill(:STOP, pid)
        sleep seconds
      ensure
        Process.kill(:CONT, pid)
      end

      private

      # The port is free when it is looked for and may be taken when it is bound, hence the question who answers there.
      def start
        @port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
        @pid = @processes.start(@program, "-l", "127.0.0.1", "-p", port.to_s, "-U", "0", "-t", "1", "-m", @memory_mb.to_s,
          core: @core, user: "nobody", out: File::NULL, err: File::NULL)
        return true if answers?
        @processes.stop(@pid)
        false
      end

      def answers?
        200.times do
          return stats["pid"].to_i == pid
        rescue Errno::ECONNREFUSED
          sleep 0.01
        end
        false
      end
    end
  end
end
