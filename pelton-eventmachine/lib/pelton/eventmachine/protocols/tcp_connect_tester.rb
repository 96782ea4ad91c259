# frozen_string_literal: true

module EventMachine
  module Protocols
    # Tests whether a port accepts connections.
    #
    #     EM::P::TcpConnectTester.test("127.0.0.1", 80).callback { |seconds| ... }.errback { |seconds| ... }
    class TcpConnectTester < Connection
      include Deferrable

      # @return [TcpConnectTester] a Deferrable that succeeds or fails with the seconds it took
      def self.test(host, port) = EventMachine.connect(host, port, self)

      # @private
      def post_init
        @started = EventMachine.current_time
      end

      # @private
      def connection_completed
        succeed(EventMachine.current_time - @started)
        close_connection
      end

      # @private
      def unbind(*) = fail(EventMachine.current_time - @started)
    end
  end
end
