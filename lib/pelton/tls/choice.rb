# frozen_string_literal: true

module Pelton
  module TLS
    # How a server meets a client that asks for a name: the context that `sni:` has for it, and whether clients of that
    # context are verified.
    # @private
    class Choice
      # A name as contexts are found by it: names of hosts have no case, and may end with the root's dot (RFC 4343, RFC
      # 1034 3.1).
      def self.canonical(text) = text&.downcase&.delete_suffix(".")

      # @return [String, nil] the name that the client asked for
      attr_reader :name

      # @return [Context]
      attr_reader :context

      # @return [Boolean, Symbol]
      attr_reader :verify

      # @return [Proc, nil]
      attr_reader :check

      # @param name [String, nil]
      # @param chosen [Context, nil] nil: the listener's
      # @param listener [Context]
      # @param verify the listener's `verify:`, which holds where the context has no wish of its own
      # @param check the listener's `on_certificate:`, likewise
      # @param handshake_only [Boolean] whether the connection is closed after the handshake
      # @raise [TypeError] it is no context
      # @raise [ArgumentError] the context verifies clients, and has no authorities
      def initialize(name, chosen, listener, verify, check, handshake_only: false)
        chosen ||= listener
        unless chosen.is_a?(Context)
          raise TypeError, "sni: must return a Pelton::TLS::Context, nil or false, not #{chosen.inspect}"
        end
        @name, @context, @listener, @verify, @check = name, chosen, listener, verify, check
        @inherited = [verify, check]
        @handshake_only = handshake_only
        return if (chosen.verify.nil? && chosen.on_certificate.nil?) || chosen.equal?(listener)
        @check = chosen.on_certificate
        @verify = chosen.verify.nil? || chosen.verify
        TLS._refuse_blind(chosen, true, nil, @verify, @check)
        chosen._trust_system if @verify
      end

      # @return [Boolean]
      def handshake_only? = @handshake_only

      # What C gets of it. The stream keeps the choice where it is asked something later.
      def to_a
        kept = self if @handshake_only || @listener._sni?
        [@context, LEVELS.fetch(@verify), @check && TLS._checker(@check), kept]
      end

      # Whether requests for a host may come on the connection that was made by this choice. They may not if the context
      # for that host asks more of its clients (RFC 9110, 7.4): other certificates, a later version or stronger ciphers
      # than the connection has.
      #
      # @param name [String] of the host, as {.canonical} makes it; empty where the request has none
      # @param stream [Stream] the connection
      # @asynchronous if `sni:` waits
      def serves?(name, stream)
        return true if name == @name
        wanted = @listener._choice((name unless name.empty?), *@inherited) or return false
        wanted.context.equal?(@context) || (wanted.content_with?(self) && stream.__send__(:_tls_meets?, wanted.context))
      end

      # Whether a client that was accepted by the other choice would be accepted by this one.
      def content_with?(other)
        return true if !@verify && !@check
        [@verify, @check] == [other.verify, other.check] && @context._authorities == other.context._authorities
      end
    end
  end
end
