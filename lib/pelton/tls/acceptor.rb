# frozen_string_literal: true

module Pelton
  module TLS
    # Begins TLS on the connections that a listener accepts. A handshake needs no fiber. One that fails closes its
    # connection and is counted, but not reported: scanners cause such failures all the time.
    # @private
    class Acceptor
      # @return [Integer] handshakes that failed or took too long
      attr_reader :failed

      # @return [Integer] handshakes that are under way
      attr_reader :pending

      # Called with the peer's address, or nil, and the error of a handshake that failed.
      attr_writer :on_failure

      # @param tls [Context, Hash] a Hash has options for {Context#initialize}
      # @param timeout [Numeric] seconds for the handshake
      def initialize(tls, timeout)
        @context = tls.is_a?(Context) ? tls : Context.new(**tls)
        @timeout = timeout
        @failed = 0
        @pending = 0
      end

      # @yieldparam stream [Stream] when the handshake is done
      def begin(stream, &block)
        address = peer(stream) if @on_failure
        handshake = stream.start_tls(@context, server: true, timeout: @timeout) do |secured|
          @pending -= 1
          serve(secured, &block)
        end
        @pending += 1
        handshake.errback do |error|
          @pending -= 1
          @failed += 1
          @on_failure&.call(address, error)
        end
      end

      private

      # The address is gone when the handshake has failed.
      def peer(stream)
        address = stream.remote_address
        address.ip_address if address.ip?
      rescue SystemCallError
        nil
      end

      # As a listener without TLS closes the stream of a block that raises.
      def serve(stream)
        return stream.close if stream.__send__(:_tls_choice)&.handshake_only?
        yield stream if block_given?
      rescue Exception # standard:disable Lint/RescueException
        stream.close
        raise
      end
    end
  end
end
