# frozen_string_literal: true

require "socket"

module Pelton
  module Cluster
    # Notifies systemd of the service's state (sd_notify(3)). Without systemd it does nothing.
    class Notifier
      def initialize(environment = ENV)
        @path = environment["NOTIFY_SOCKET"]&.sub(/\A@/, "\0") # an abstract address
        @seconds = environment["WATCHDOG_USEC"].to_i / 1_000_000.0
      end

      # The seconds between two calls of {#alive}; nil: systemd does not ask for them.
      def interval = @seconds.positive? ? @seconds / 2 : nil

      def ready = notify("READY=1\nMAINPID=#{Process.pid}")

      def alive = notify("WATCHDOG=1")

      def reloading
        notify("RELOADING=1\nMONOTONIC_USEC=#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)}")
      end

      def stopping = notify("STOPPING=1")

      private

      # A service manager that cannot be reached is logged, and does not end the service.
      def notify(state)
        return unless @path
        Socket.open(:UNIX, :DGRAM) do |socket|
          socket.sendmsg_nonblock(state, 0, Addrinfo.unix(@path), exception: false)
        end
        nil
      rescue SystemCallError => error
        Pelton.logger.error("cannot notify the service manager: #{error.message}")
      end
    end
  end
end
