# frozen_string_literal: true

require_relative "tls/context"
require_relative "tls/acceptor"

module Pelton
  # TLS on streams, by OpenSSL: see {Stream#start_tls}, {Pelton.connect} and {Pelton.listen}, and docs/guides/tls.md.
  #
  # The defaults are safe: TLS 1.2 at least, ciphers with forward secrecy, no renegotiation, and a client verifies whom it
  # talks to.
  module TLS
    # What a connection has agreed upon.
    #
    # - `protocol`: "TLSv1.3"; `cipher`: its name; `cipher_bits`; `alpn`: the protocol on top ("h2"), or nil
    # - `server_name`: the name the client asked for, or nil
    # - `certificate`: the peer's own, in PEM, or nil; `chain`: it and those that came with it, in PEM
    # - `resumed`: whether an earlier session went on; `verified`: whether the peer's certificate was found good
    class Info < Struct.new(:protocol, :cipher, :cipher_bits, :server_name, :alpn, :certificate, :chain, :resumed, :verified)
    end

    # A certificate of the peer's chain, as `on_certificate:` sees it. `pem`; `depth`, 0 for the peer's own; `reason` why it is
    # not trusted, nil when it is.
    class Certificate < Struct.new(:pem, :depth, :reason)
      # Whether an authority that is trusted vouches for it.
      def trusted? = reason.nil?
    end

    class << self
      # Whether this Pelton was built with OpenSSL.
      def available? = Context.private_method_defined?(:_certificate)

      # What a client uses that says nothing else.
      #
      # @return [Context] trusts what the system trusts
      def default_context = @default_context ||= Context.new

      # @private What Stream's C part wants to know.
      def _arguments(context, settings, server:, name:, verify:, check:)
        raise ArgumentError, "start_tls: give a context or settings, not both" if context && settings.any?
        context ||= settings.empty? ? default_context : Context.new(**settings)
        check ||= context.on_certificate
        verify = context.verify if verify.nil?
        verify = !server || !check.nil? if verify.nil?
        refuse_blind(context, server, name, verify, check)
        context._trust_system if verify
        [context, server, LEVELS.fetch(verify), check && checker(check), server ? context._chooser : nil, name, session(name, verify, check)]
      end

      # @private
      def _connect(stream, host, tls, timeout)
        timeout = [timeout, 0].max
        case tls
        when Context then stream.start_tls(tls, server_name: host, timeout: timeout)
        when Hash then stream.start_tls(tls[:context], server_name: host, timeout: timeout, **tls.reject { |key,| key == :context })
        else stream.start_tls(server_name: host, timeout: timeout)
        end
      rescue
        stream.abort
        raise
      end

      private

      def refuse_blind(context, server, name, verify, check)
        return if !verify || check
        if server
          raise ArgumentError, "to verify clients, say by ca_file: whose certificates are good" unless context.trusts_own?
        elsif name.nil?
          raise ArgumentError, "say by server_name: whose certificate is expected; verify: false trusts anybody who listens"
        end
      end

      def checker(check) = ->(pem, depth, reason) { check.call(Certificate.new(pem, depth, reason)) }

      # A session that goes on is not verified again: so one that never was is no verified connection's.
      def session(name, verify, check)
        "#{verify ? "verified" : "unverified"} #{name}" if name && !check
      end
    end

    # As the core has them.
    LEVELS = {false => 0, :optional => 1, true => 2}.freeze
    private_constant :LEVELS
  end
end
