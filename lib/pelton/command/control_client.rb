# frozen_string_literal: true

require "socket"
require_relative "../address"
require_relative "../error"

module Pelton
  # Asks a control socket, for the command line. See {Control}.
  # @private
  module ControlClient
    TIMEOUT = 5 # seconds to connect, and for each answer

    class << self
      # @param address [String] tcp://host:port, unix:///path, or a path
      # @return [String] the answer's body
      # @raise [SystemCallError] nobody listens there
      # @raise [ArgumentError] the address has another form, or the answer is not 200: its message is the answer
      def ask(address, method, path)
        connect(address) do |socket|
          socket.write("#{method} #{path} HTTP/1.0\r\n\r\n")
          head, body = read(socket).split("\r\n\r\n", 2)
          raise ArgumentError, "no answer to #{method} #{path[/[^?]*/]}" unless head&.start_with?("HTTP/1.1 ")
          unless head.start_with?("HTTP/1.1 200")
            raise ArgumentError, "#{method} #{path[/[^?]*/]}: #{head[/ (\d+ [^\r]*)/, 1]}: #{body.to_s.strip}"
          end
          body
        end
      end

      private

      def read(socket)
        answer = +""
        while socket.wait_readable(TIMEOUT) && (chunk = socket.read_nonblock(65_536, exception: false))
          answer << chunk unless chunk == :wait_readable
        end
        answer
      end

      def connect(address, &block)
        parsed = Address.new(address.include?("://") ? address : "unix://#{address}")
        return UNIXSocket.open(parsed.path, &block) if parsed.path
        Socket.tcp(parsed.host, parsed.port, connect_timeout: TIMEOUT, &block)
      end
    end
  end
end
