# frozen_string_literal: true

module Pelton
  module TLS
    # Begins TLS on the connections that a listener accepts. A handshake costs no fiber, and one that fails nothing but its
    # connection: peers that only look which ciphers there are do so all the time.
    # @private
    class Acceptor
      # @return [Integer] handshakes that failed or took too long
      attr_reader :failed

      # @return [Integer] handshakes that are under way
      attr_reader :pending

      # @param tls [Context, Hash] a Hash of what {Context#initialize} takes
      # @param timeout [Numeric] seconds for the handshake
      def initialize(tls, timeout)
        @context = tls.is_a?(Context) ? tls : Context.new(**tls)
        @timeout = timeout
        @failed = 0
        @pending = 0
      end

      # @yieldparam stream [Stream] when the handshake is done
      def begin(stream, &block)
        handshake = stream.start_tls(@context, server: true, timeout: @timeout) do |secured|
          @pending -= 1
          block&.call(secured)
        end
        @pending += 1
        handshake.errback do
          @pending -= 1
          @failed += 1
        end
      end
    end
  end
end
