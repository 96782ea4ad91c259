# frozen_string_literal: true

require "io/wait"
require "socket"

module Pelton
  module Lab
    # Connections that stay open to a web server after a request each, as browsers' do.
    class WebCrowd
      # So many wait for their answers at a time: fewer than any server lets queue.
      BATCH = 100
      PATIENCE = 20

      # Opens them; each answer is checked.
      # @param run [Run] whose verdict it is
      # @param body [String] what is at "/"
      # @param patience [Numeric] seconds for an answer
      def initialize(run, port, size, body:, patience: PATIENCE)
        @run = run
        @port = port
        @body = body
        @patience = patience
        # Each is a descriptor.
        Process.setrlimit(:NOFILE, Process.getrlimit(:NOFILE).last)
        @sockets = size.times.each_slice(BATCH).flat_map { |batch| answered(batch.map { ask }) }
      rescue Errno::EMFILE
        raise "#{size} connections need as many descriptors, and this process may have #{Process.getrlimit(:NOFILE).last} (ulimit -Hn)"
      end

      # Finds out whether the server has closed some, or has said more than it was asked.
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
        socket.wait_readable(@patience) or @run.wrong("a connection had no answer within #{@patience} s")
        socket.readpartial(4096)
      rescue EOFError, SystemCallError => error
        @run.wrong("a connection was closed before its answer: #{error.message}")
      end
    end
  end
end
