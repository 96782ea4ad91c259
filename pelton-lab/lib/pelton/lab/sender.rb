# frozen_string_literal: true

require "socket"
require_relative "pattern"

module Pelton
  module Lab
    # A server that reads a line with a number of bytes and sends as many, by blocking writes. It is a separate process,
    # so that its CPU time is not the receiver's.
    class Sender
      attr_reader :port, :pid

      # @param core [Integer, nil] the core it is bound to
      def initialize(processes, core)
        @pid, @port = processes.serve_ruby("sender.rb", core:)
      end

      def version
        "a blocking sender, 64 KB a write"
      end

      # The process itself: prints its port, then serves one connection after another.
      def self.serve
        listener = TCPServer.new("127.0.0.1", 0)
        $stdout.puts(listener.addr[1])
        $stdout.close
        loop { listener.accept.then { |socket| answer(socket) } }
      end

      def self.answer(socket)
        Pattern.each_block(socket.gets.to_i) { |block| socket.write(block) }
      rescue SystemCallError
        # the receiver has gone, and reports the reason itself
      ensure
        socket.close
      end
      private_class_method :answer
    end
  end
end

Pelton::Lab::Sender.serve if $PROGRAM_NAME == __FILE__
