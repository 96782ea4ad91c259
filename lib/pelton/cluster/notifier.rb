# frozen_string_literal: true

require "socket"

module Pelton
  module Cluster
    # Tells systemd how the service fares (sd_notify(3)). Without systemd it says nothing.
    class Notifier
      def initialize(environment = ENV)
        @path = environment["NOTIFY_SOCKET"]&.sub(/\A@/, "\0") # an abstract address
        @seconds = environment["WATCHDOG_USEC"].to_i / 1_000_000.0
      end

      # How often {#alive} must be called, in seconds; nil when nobody wants it.
      def interval = @seconds.positive? ? @seconds / 2 : nil

      def ready = tell("READY=1\nMAINPID=#{Process.pid}")

      def alive = tell("WATCHDOG=1")

      def reloading = tell("RELOADING=1\nMONOTONIC_USEC=#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)}")

      def stopping = tell("STOPPING=1")

      private

      # A service manager that cannot be reached keeps nobody from serving.
      def tell(state)
        return unless @path
        Socket.open(:UNIX, :DGRAM) { |socket| socket.sendmsg_nonblock(state, 0, Addrinfo.unix(@path), exception: false) }
        nil
      rescue SystemCallError => error
        Pelton.logger.error("cannot notify the service manager: #{error.message}")
      end
    end
  end
end
