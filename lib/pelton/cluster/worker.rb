# frozen_string_literal: true

require "json"
require "socket"

module Pelton
  module Cluster
    # A worker's process, as its master sees it.
    class Worker
      # @return [Integer]
      attr_reader :index, :pid

      # @return [Socket] readable when it has said something
      attr_reader :pipe

      # @return [Hash] its last report
      attr_reader :stats

      # @return [Float] when it was started, last said something, and was told to stop (monotonic seconds); or nil
      attr_reader :started, :heard, :stopped

      # Forks. The block runs in the worker's process, with its end of the pipe.
      def self.start(index)
        own, theirs = UNIXSocket.pair
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
        @input = +""
        @started = @heard = Clock.now
      end

      # Whether it serves.
      def ready? = @ready && !@stopped

      def stopping? = !!@stopped

      # Takes what it has said.
      def hear
        until (chunk = @pipe.read_nonblock(65_536, exception: false)) == :wait_readable
          break unless chunk
          @heard = Clock.now
          @input << chunk
        end
        while (line = @input.slice!(/\A.*\n/))
          understand(line.chomp)
        end
      rescue SystemCallError
        nil # it is dying, and will be reaped
      end

      # Tells it to finish what it does.
      #
      # @param final [Boolean] whether nobody else will accept what waits on the sockets
      def stop(final: false)
        return if @stopped
        @stopped = Clock.now
        @pipe.write_nonblock(final ? "finish\n" : "stop\n", exception: false)
      rescue SystemCallError, IOError
        nil # it has ended
      end

      # Tells it to call its hook, {Child#on_hangup}.
      def hang_up
        @pipe.write_nonblock("hangup\n", exception: false)
      rescue SystemCallError, IOError
        nil # it has ended
      end

      def kill(signal = "KILL")
        Process.kill(signal, @pid)
      rescue Errno::ESRCH
        nil
      end

      # @return [Process::Status, nil] when it has ended
      def reap
        _, status = Process.wait2(@pid, Process::WNOHANG)
        return unless status
        hear # its last report
        @pipe.close
        status
      end

      private

      def understand(line)
        case line
        when "ready" then @ready = true
        when /\Astats (.*)/ then @stats = JSON.parse($1)
        end
      rescue JSON::ParserError
        nil # a report that was cut off
      end
    end
  end
end
