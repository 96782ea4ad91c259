# frozen_string_literal: true

require "io/wait"
require "socket"

module Pelton
  module Lab
    # Many keep-alive connections to a web server, idle after one request each, as those of browsers are.
    class IdleConnections
      # Requests at a time while the connections are opened: fewer than any server's listen backlog.
      BATCH = 100
      TIMEOUT = 20

      # Opens the connections and checks the answer on each.
      # @param run [Run] gets the verdict
      # @param body [String] the expected body of "/"
      # @param timeout [Numeric] seconds for an answer
      def initialize(run, port, size, body:, timeout: TIMEOUT)
        @run = run
        @port = port
        @body = body
        @timeout = timeout
        # A connection is a descriptor.
        Process.setrlimit(:NOFILE, Process.getrlimit(:NOFILE).last)
        @sockets = size.times.each_slice(BATCH).flat_map { |batch| answered(batch.map { ask }) }
      rescue Errno::EMFILE
        raise "#{size} connections need as many descriptors, and this process may have " \
          "#{Process.getrlimit(:NOFILE).last} (ulimit -Hn)"
      end

      # Checks that the server has closed none of them and has sent nothing unasked.
      def check
        open = @sockets.count { |socket| socket.read_nonblock(1, exception: false) == :wait_readable }
        @run.expect(@sockets.size, open, "the number of connections that are still open")
      rescue SystemCallError => error
        @run.wrong("a connection that was idle: #{error.message}")
      end

      def close
        @sockets.each(&:close)
      end

      private

      def ask
        TCPSocket.new("127.0.0.1", @port).tap { |socket| socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") }
      end

      def answered(sockets)
        sockets.each do |socket|
          answer = +""
          answer << piece(socket) until answer.end_with?(@body)
          @run.expect("200", answer[%r{\AHTTP/1\.1 (\d+)}, 1], "an answer's status")
        end
      end

      def piece(socket)
        socket.wait_readable(@timeout) or @run.wrong("a connection had no answer within #{@timeout} s")
        socket.readpartial(4096)
      rescue EOFError, SystemCallError => error
        @run.wrong("a connection was closed before its answer: #{error.message}")
      end
    end
  end
end
