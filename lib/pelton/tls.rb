# frozen_string_literal: true

require_relative "tls/context"
require_relative "tls/choice"
require_relative "tls/acceptor"

module Pelton
  # TLS on streams, by OpenSSL: see {Stream#start_tls}, {Pelton.connect} and {Pelton.listen}, and docs/guides/tls.md.
  #
  # The defaults are safe: TLS 1.2 at least, ciphers with forward secrecy, no renegotiation, and a client verifies the
  # server's certificate and name.
  module TLS
    # The result of a TLS handshake.
    #
    # - `protocol`: the version, such as "TLSv1.3"; `cipher`: its name; `cipher_bits`; `alpn`: the protocol on top, such
    #   as "h2", or nil
    # - `server_name`: the name that the client asked for, or nil
    # - `certificate`: the peer's own, in PEM, or nil; `chain`: all certificates that the peer sent, in PEM
    # - `resumed`: whether an earlier session was resumed; `verified`: whether the peer's certificate was verified
    class Info < Struct.new(:protocol, :cipher, :cipher_bits, :server_name, :alpn, :certificate, :chain, :resumed,
      :verified)
    end

    # A certificate of the peer's chain, as `on_certificate:` gets it: `pem`; `depth`, 0 for the peer's own; `reason`,
    # why it is not trusted, or nil.
    class Certificate < Struct.new(:pem, :depth, :reason)
      # @return [Boolean] whether a trusted authority vouches for it
      def trusted? = reason.nil?
    end

    class << self
      # @return [Boolean] whether this Pelton was built with OpenSSL
      def available? = Context.private_method_defined?(:_certificate)

      # @return [Context] the context of clients that give none: it trusts the authorities that the system trusts
      def default_context = @default_context ||= Context.new

      # The arguments of Stream's C part.
      # @private
      def _arguments(context, settings, server:, name:, verify:, check:)
        raise ArgumentError, "start_tls: give a context or settings, not both" if context && settings.any?
        context ||= settings.empty? ? default_context : Context.new(**settings)
        check ||= context.on_certificate
        verify = context.verify if verify.nil?
        verify = !server || !check.nil? if verify.nil?
        _refuse_blind(context, server, name, verify, check)
        context._trust_system if verify
        chooser = context._chooser(verify, check) if server
        [context, server, LEVELS.fetch(verify), check && _checker(check), chooser, name, session(name, verify, check)]
      end

      # @private
      def _connect(stream, host, tls, timeout)
        timeout = [timeout, 0].max
        case tls
        when Context then stream.start_tls(tls, server_name: host, timeout: timeout)
        when Hash then stream.start_tls(tls[:context], server_name: host, timeout: timeout,
          **tls.reject { |key,| key == :context })
        else stream.start_tls(server_name: host, timeout: timeout)
        end
      rescue
        stream.abort
        raise
      end

      # @private
      def _refuse_blind(context, server, name, verify, check)
        return if !verify || check
        if server
          unless context.trusts_own?
            raise ArgumentError, "to verify clients, give ca_file: the authorities that sign their certificates"
          end
        elsif name.nil?
          raise ArgumentError,
            "give server_name: the name in the server's certificate. (verify: false would trust any server)"
        end
      end

      # @private
      def _checker(check) = ->(pem, depth, reason) { check.call(Certificate.new(pem, depth, reason)) }

      private

      # A resumed session is not verified again. So a connection that is verified never resumes one that was not.
      def session(name, verify, check)
        "#{verify ? "verified" : "unverified"} #{name}" if name && !check
      end
    end

    # The core's numbers.
    LEVELS = {false => 0, :optional => 1, true => 2}.freeze
    private_constant :LEVELS
  end
end
