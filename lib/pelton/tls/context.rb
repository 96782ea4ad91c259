# frozen_string_literal: true

module Pelton
  module TLS
    # The settings that many TLS connections share: a certificate and its key, trusted authorities, versions, ciphers,
    # sessions. One context may serve clients and servers, on any thread. Make it once, because reading certificates
    # takes milliseconds.
    #
    # @example a server
    #   context = Pelton::TLS::Context.new(certificate: "chain.pem", key: "key.pem", alpn: ["http/1.1"])
    #   Pelton.listen("0.0.0.0", 443, tls: context) { |stream| ... }
    #   trap(:HUP) { context.reload } # new certificates for new connections
    class Context
      # Names of versions, and OpenSSL's numbers for them.
      VERSIONS = {nil => 0, "TLSv1" => 0x301, "TLSv1.1" => 0x302, "TLSv1.2" => 0x303, "TLSv1.3" => 0x304}.freeze

      # @return [Boolean, :optional, nil] the default of `verify:` in {Stream#start_tls}
      attr_reader :verify

      # @return [Proc, nil] the default of `on_certificate:` in {Stream#start_tls}
      attr_reader :on_certificate

      # A certificate or a key is given as the name of a file, as PEM text, or as an object with `to_pem`.
      #
      # @param certificate [String, nil] this side's certificate, followed by its chain; a server needs one
      # @param key [String, nil] the certificate's private key; nil: the certificate's file contains it
      # @param password [String, nil] the key's password
      # @param ca_file [String, Array<String>, nil] certificates of authorities to trust, instead of the system's
      # @param ca_path [String, nil] a folder of such certificates, named by their hashes
      # @param verify [Boolean, :optional, nil] as in {Stream#start_tls}
      # @param on_certificate [Proc, nil] as in {Stream#start_tls}
      # @param alpn [Array<String>, nil] protocols on top of TLS, the preferred one first; a peer that has none of them
      #   is not refused
      # @param min_version [String, nil] the lowest version; one below "TLSv1.2" needs security_level: 0 as well
      # @param max_version [String, nil] the highest version; nil: OpenSSL's
      # @param ciphers [String, nil] ciphers for TLS 1.2, in OpenSSL's format; nil: those with forward secrecy and AEAD
      # @param ciphersuites [String, nil] ciphers for TLS 1.3, in OpenSSL's format
      # @param groups [String, nil] curves and other groups for the key exchange, "X25519:P-256"
      # @param dh [String, nil] parameters for Diffie-Hellman, instead of OpenSSL's own
      # @param security_level [Integer, nil] OpenSSL's security level, 0 to 5; nil: 2 at least
      # @param resumption [Boolean] whether sessions are resumed; a server does it by tickets
      # @param plain_answer [String, nil] what a server sends, as it is, to a client that begins with an HTTP request
      #   instead of TLS
      # @param sni [Hash{String => Context}, Proc, nil] a server's other contexts, by the name that the client asks for.
      #   A Hash may have names such as "*.example.com". A Proc is called with the name, in lower case, or nil; it may
      #   wait. For nil this context is taken, for false the client is refused. The HTTP server also asks it for the
      #   host of a request that the connection was not made for
      # @param handshake_only [Hash{String => #call}, nil] a server's contexts for protocols that end with the
      #   handshake, such as "acme-tls/1" (RFC 8737). The block of such a protocol is called for a client that offers
      #   no other, with the name that it asks for, in lower case, or nil. It returns a context, or nil to refuse the
      #   client, and may wait. A listener closes the connection after the handshake, and asks for no certificate unless
      #   the context says so
      # @raise [TLSError] when something cannot be read, or OpenSSL refuses it
      # @raise [ArgumentError] for a version that is not known, and for a key without a certificate
      def initialize(verify: nil, on_certificate: nil, sni: nil, handshake_only: nil, **settings)
        unless TLS.available?
          raise TLSError, "this Pelton was built without OpenSSL: install libssl-dev, then reinstall the gem"
        end
        @verify = verify
        @on_certificate = on_certificate
        @sni = sni
        @handshake_only = handshake_only
        @settings = settings
        apply(**settings)
      end

      # Reads the files again, also those of the contexts in `sni:`. New connections use the new contents, open ones
      # keep the old. When a file cannot be used, nothing changes.
      #
      # @return [self]
      # @raise [TLSError]
      def reload
        all.map { |context| [context, context._fresh] }.each { |context, fresh| context._renew(fresh) }
        self
      end

      # @return [Array<String>] the paths of the files that {#reload} reads
      def files = all.flat_map(&:_files).uniq

      # @private
      def _files
        @settings.values_at(:certificate, :key, :ca_file).flatten.grep(String).reject { |source| pem?(source) }
      end

      # @private
      def _fresh
        fresh = self.class.new(**@settings)
        fresh.__send__(:_succeed, self) unless @verify # resumed sessions are not verified again
        fresh
      end

      # @private
      def _renew(fresh)
        @trusts_system = false
        _become(fresh)
      end

      # @return [Boolean] whether it has authorities of its own, instead of the system's
      def trusts_own? = !!(@settings[:ca_file] || @settings[:ca_path])

      # The system's authorities are read when they are first needed: that takes a while, and a server seldom needs
      # them.
      # @private
      def _trust_system
        return if trusts_own? || @trusts_system
        _trust_folder(nil)
        @trusts_system = true
      end

      # A Proc that takes the name that a client asked for, and the only protocol that it offers or nil. It returns nil
      # when the client is refused, or else what C gets of the choice.
      # @private
      def _chooser(verify, check)
        return unless @sni || @handshake_only
        lambda do |name, protocol = nil|
          name = Choice.canonical(name)
          block = @handshake_only[protocol] if @handshake_only && protocol
          next _choice(name, verify, check)&.to_a unless block
          context = block.call(name)
          Choice.new(name, context, self, false, nil, handshake_only: true).to_a if context
        end
      end

      # @return [Choice, nil] nil: the client is refused
      # @private
      def _choice(name, verify, check)
        ((chosen = choose(name)) == false) ? nil : Choice.new(name, chosen, self, verify, check)
      end

      # @return [Boolean] whether there are contexts for other names
      # @private
      def _sni? = !@sni.nil?

      # @private
      def _authorities = @settings.values_at(:ca_file, :ca_path)

      def inspect = "#<#{self.class.name}>" # settings may hold a key

      private

      # This context, and those of other names.
      def all = [self, *(@sni.values.grep(Context) if @sni.is_a?(Hash))].uniq

      def apply(certificate: nil, key: nil, password: nil, ca_file: nil, ca_path: nil, alpn: nil,
        min_version: "TLSv1.2",
        max_version: nil, ciphers: nil, ciphersuites: nil, groups: nil, dh: nil, security_level: nil, resumption: true,
        plain_answer: nil)
        _security(security_level) if security_level
        _versions(version(min_version), version(max_version))
        _ciphers(ciphers, ciphersuites, groups)
        trust(ca_file, ca_path)
        present(certificate, key, password)
        _dh(pem(dh)) if dh
        _alpn(alpn.map { |name| [name.bytesize].pack("C") + name.b }.join) if alpn
        _resumption(resumption)
        _plain_answer(plain_answer) if plain_answer
      end

      def trust(file, path)
        Array(file).each { |one| _trust(pem(one)) }
        _trust_folder(path.to_s) if path
      end

      def present(certificate, key, password)
        raise ArgumentError, "a key needs its certificate:" if key && !certificate
        return unless certificate
        certificate = pem(certificate)
        _certificate(certificate, key ? pem(key) : certificate, password)
      end

      def version(name)
        VERSIONS.fetch(name) { raise ArgumentError, "a version is one of #{VERSIONS.keys.compact.join(", ")}" }
      end

      def pem(source)
        if source.respond_to?(:to_pem)
          return source.respond_to?(:private_to_pem) ? source.private_to_pem : source.to_pem
        end
        source = source.to_s
        pem?(source) ? source : File.binread(source)
      rescue SystemCallError => error
        raise TLSError, "#{source}: #{SystemCallError.new(error.errno).message}"
      end

      def pem?(source) = source.include?("-----BEGIN")

      def choose(name)
        return unless @sni
        return @sni.call(name) unless @sni.is_a?(Hash)
        @sni[name] || (name && @sni["*.#{name.partition(".").last}"])
      end
    end
  end
end
