# frozen_string_literal: true

require "json"
require "socket"

module Pelton
  module Cluster
    # A worker inside the master's process: the other end of a {Child}.
    class Worker
      # @return [Integer]
      attr_reader :index, :pid

      # @return [Socket] readable when the worker has sent something
      attr_reader :pipe

      # @return [Hash] the stats of its last report
      attr_reader :stats

      # @return [Hash{String => Metrics::Family}] what the application in it counts besides
      attr_reader :families

      # @return [Float, nil] the times of its start, its last message and its stop, on the monotonic clock
      attr_reader :started, :last_message, :stopped

      # Forks a worker. The block runs in the worker's process, with its end of the pipe.
      def self.start(index)
        own, theirs = UNIXSocket.pair
        # A report is sent whole or not at all; the system allows less than this
        theirs.setsockopt(:SOCKET, :SNDBUF, 1 << 20)
        pid = fork do
          own.close
          yield theirs
        end
        theirs.close
        new(index, pid, own)
      end

      def initialize(index, pid, pipe)
        @index = index
        @pid = pid
        @pipe = pipe
        @stats = {}
        @families = {}
        @input = +""
        @started = @last_message = Clock.now
      end

      # Whether it serves.
      def ready? = @ready && !@stopped

      def stopping? = !!@stopped

      # Reads the messages that have come.
      def read_messages
        until (chunk = @pipe.read_nonblock(65_536, exception: false)) == :wait_readable
          break unless chunk
          @last_message = Clock.now
          @input << chunk
        end
        while (line = @input.slice!(/\A.*\n/))
          understand(line.chomp)
        end
      rescue SystemCallError
        nil # the process is ending, and will be reaped
      end

      # Asks the worker to finish its requests and to end.
      #
      # @param final [Boolean] whether no other process will accept the connections in the sockets' backlog
      def stop(final: false)
        return if @stopped
        @stopped = Clock.now
        send_line(final ? "finish" : "stop")
      end

      # Asks the worker to call {Child#on_hangup}.
      def hang_up = send_line("hangup")

      # @return [Array<Hash>, nil] the tasks of its last answer to {#ask_for_tasks}
      attr_reader :tasks

      # Asks the worker for its tasks.
      def ask_for_tasks
        @tasks = nil
        send_line("tasks")
      end

      # @return [Array(String, nil), nil] its last answer to {#ask_for_readiness}: why it is not ready for requests
      attr_reader :readiness

      # Asks the worker for {Child#readiness}.
      def ask_for_readiness
        @readiness = nil
        send_line("readiness")
      end

      # @return [Array(Integer, Integer), nil] its last answer to {#ask_to_purge}: the question's number, and how many
      #   responses were removed
      attr_reader :purged

      # Asks the worker to call {Child#purge}.
      #
      # @param number [Integer] the question's: others may ask at the same time
      # @param path [String] without a line end
      def ask_to_purge(number, path) = send_line("purge #{number} #{path}")

      def kill(signal = "KILL")
        Process.kill(signal, @pid)
      rescue Errno::ESRCH
        nil
      end

      # @param status [Process::Status, nil] the status, where the process was waited for already
      # @return [Process::Status, nil] nil while the process runs
      def reap(status = nil)
        status ||= Process.wait2(@pid, Process::WNOHANG)&.last
        return unless status
        read_messages # the last report
        @pipe.close
        status
      end

      private

      def send_line(text)
        @pipe.write_nonblock("#{text}\n", exception: false)
      rescue SystemCallError, IOError
        nil # the process has ended
      end

      def understand(line)
        case line
        when "ready" then @ready = true
        when /\Astats (.*)/ then @stats = JSON.parse($1)
        when /\Afamilies (.*)/ then @families = JSON.parse($1).transform_values { |name| Metrics::Family.new(*name) }
        when /\Atasks (.*)/ then @tasks = JSON.parse($1)
        when /\Apurged (.*)/ then @purged = JSON.parse($1)
        when /\Areadiness (.*)/ then @readiness = JSON.parse($1)
        end
      rescue JSON::ParserError
        nil # the report was cut off
      end
    end
  end
end
