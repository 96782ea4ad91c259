# frozen_string_literal: true

require_relative "../pelton"

module Pelton
  # A program that runs alongside a server, such as the processes of its jobs: it starts and stops with the server, and
  # the server ends when it ends by itself, so that a service manager starts both again.
  class Companion
    # @param command [Array<String>] the program and its arguments
    # @param environment [Hash{String => String}] variables that it gets besides
    # @yield if it ends before {#stop} was called, on a thread of its own
    # @raise [SystemCallError] there is no such program
    def initialize(command, environment = {}, &ended)
      @command = command
      @ended = ended
      @owner = Process.pid
      @pid = Process.spawn(environment, *command)
      @thread = Thread.new { watch }
    end

    # @return [Integer] its process
    attr_reader :pid

    # @return [Boolean] whether it has ended by itself
    def failed? = @failed

    # Asks it to end. A process that has inherited this object does nothing.
    def stop
      @asked ||= Clock.now
      signal("TERM")
    end

    # Waits for its end, and ends it by force when the time is over, which began when it was asked to end.
    #
    # @param timeout [Numeric, nil] seconds; nil: any time
    # @return [void]
    def wait(timeout)
      return if @owner != Process.pid || @thread.join(timeout && Clock.left((@asked || Clock.now) + timeout))
      Pelton.logger&.warn("#{name} did not end within #{timeout} s, and is killed")
      signal("KILL")
      @thread.join
    end

    private

    def name = @command.join(" ")

    def watch
      status = begin
        Process.wait2(@pid).last
      rescue Errno::ECHILD # the first process of a container reaps all
        nil
      end
      return if @stopping
      @failed = true
      Pelton.logger&.error("#{name} has ended (#{status || "its status is not known"}), and so does this server")
      @ended&.call
    end

    def signal(name)
      return if @owner != Process.pid || !@thread.alive?
      @stopping = true
      Process.kill(name, @pid)
    rescue Errno::ESRCH
      nil
    end
  end
end
