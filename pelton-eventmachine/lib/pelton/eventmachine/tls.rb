# frozen_string_literal: true

# TLS. The defaults for versions and ciphers are safe, and a client that checks no certificate is warned about in the
# log.
module EventMachine
  # Makes contexts from the settings of {Connection#start_tls}. Contexts are kept, because making one reads files.
  # @private
  module TLSContexts
    # By name: EventMachine's bit for a version, and Pelton's name.
    VERSIONS = {
      "sslv2" => [EM_PROTO_SSLv2, nil], "sslv3" => [EM_PROTO_SSLv3, nil], "tlsv1" => [EM_PROTO_TLSv1, "TLSv1"],
      "tlsv1_1" => [EM_PROTO_TLSv1_1, "TLSv1.1"], "tlsv1_2" => [EM_PROTO_TLSv1_2, "TLSv1.2"],
      "tlsv1_3" => [EM_PROTO_TLSv1_3, "TLSv1.3"]
    }.freeze

    # The number of contexts that are kept.
    MOST = 100

    @contexts = {}

    class << self
      # @param names [Symbol, String, Array, nil] versions
      # @return [Integer] their bits; 0 for no names
      # @raise [RuntimeError] for an unknown name
      def protocols(names)
        Array(names).sum do |name|
          (VERSIONS[name.to_s.downcase] || raise("Unrecognized SSL/TLS Protocol: #{name}")).first
        end
      end

      # @return [Pelton::TLS::Context, nil] nil when no peer could agree to the settings
      def context(server, settings)
        key, chain, verify, _must, _name, ciphers, curve, dh, protocols, password = settings
        versions = VERSIONS.values.filter_map { |bit, name| name if (protocols & bit) != 0 }
        return if (protocols != 0 && versions.empty?) || (server && unaided?(ciphers, curve, dh))
        name = [server, settings, [key, chain, dh].map { |file| file && File.file?(file) && File.mtime(file) }]
        @contexts.shift if @contexts.size >= MOST
        @contexts[name] ||= make(certificate(server, key, chain, password, ciphers), list(server, ciphers, dh),
          versions, server && verify, groups: curve, dh: dh)
      end

      private

      # As in EventMachine: a server with ciphers for elliptic curves alone must name a curve, and one with ciphers for
      # Diffie-Hellman alone must have parameters.
      def unaided?(ciphers, curve, dh)
        return false unless ciphers
        kinds = ciphers.split(/[:, ]+/)
        (!curve && (kinds - %w[ECDH ECDHE EECDH kECDHE]).empty?) || (!dh && (kinds - %w[DH DHE EDH kDHE kEDH]).empty?)
      end

      # TLS 1.3 must be named in two cases. A cipher list applies to TLS 1.2 and older versions only. And when a server
      # verifies its clients, a client with TLS 1.3 would not know yet in ssl_handshake_completed that it is refused.
      def make(certificate, ciphers, versions, verifies, **options)
        min = versions.first || "TLSv1.2"
        max = versions.last || ("TLSv1.2" if ciphers || verifies)
        options[:security_level] = 0 if %w[TLSv1 TLSv1.1].include?(min)
        options.update(certificate, min_version: min, max_version: max, ciphers: ciphers || "DEFAULT", verify: false)
        begin
          ::Pelton::TLS::Context.new(**options)
        rescue ::Pelton::TLSError => error
          raise unless certificate.any? && error.message.match?(/too (weak|small)/)
          ::Pelton::TLS::Context.new(**options, security_level: 0) # the program has chosen this certificate
        end
      end

      # A server without parameters cannot do classic Diffie-Hellman.
      def list(server, ciphers, dh)
        ciphers = ciphers&.tr(", ", ":")
        (ciphers && server && !dh) ? "#{ciphers}:!DHE" : ciphers
      end

      def certificate(server, key, chain, password, ciphers)
        return own(ciphers) if server && !chain
        chain ? {certificate: chain, key: key || chain, password: password} : {}
      end

      # A server without a certificate uses a self-signed one: the connection is encrypted, but clients cannot verify
      # the server. The key is of an elliptic curve, which is made fast; the program's own ciphers may need an RSA key.
      def own(ciphers)
        require "openssl"
        @own ||= {}
        @own[!ciphers] ||= sign(ciphers ? OpenSSL::PKey::RSA.new(2048) : OpenSSL::PKey::EC.generate("prime256v1"))
      end

      def sign(key)
        certificate = OpenSSL::X509::Certificate.new
        certificate.version = 2
        certificate.serial = OpenSSL::BN.rand(64)
        certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=EventMachine without a certificate")
        certificate.public_key = key
        certificate.not_before = Time.now - 86_400
        certificate.not_after = Time.now + 10 * 365 * 86_400
        certificate.sign(key, "SHA256")
        {certificate: certificate.to_pem, key: key.is_a?(OpenSSL::PKey::RSA) ? key.to_pem : key.private_to_pem}
      end
    end
  end

  class StreamTransport
    # Seconds for the handshake.
    HANDSHAKE_TIMEOUT = 20

    attr_writer :tls_settings

    # Begins TLS as soon as it is connected.
    def start_tls
      @queueing ? (@queued ||= []) << :tls : begin_tls # data that was sent before goes out unencrypted
    end

    def tls = @stream&.tls

    private

    def begin_tls
      verify, must, name = @tls_settings.values_at(2, 3, 4)
      context = TLSContexts.context(@server, @tls_settings) or return fail_tls
      checks = verify && checks?
      verify = :optional if verify && @server && !must
      warn_of_no_verification unless verify || @server
      @stream.pause # no data is delivered before ssl_handshake_completed
      @stream.start_tls(context, server: @server, server_name: name, verify: verify || false,
        on_certificate: checks && method(:check),
        timeout: HANDSHAKE_TIMEOUT) { handshaken }.errback { |error| fail_tls(error) }
    end

    # @return [Boolean] whether the handler verifies certificates itself
    def checks? = @connection.method(:ssl_verify_peer).owner != Connection || @server

    def check(certificate) = @connection.ssl_verify_peer(certificate.pem)

    def handshaken
      busy { @connection.ssl_handshake_completed }
      @stream.resume unless @paused || @stream.closed?
    end

    def fail_tls(error = nil)
      @errno ||= Errno::EPROTO::Errno
      close(false)
      EventMachine._failed(error) if error && !error.is_a?(::Pelton::Error)
    end

    def warn_of_no_verification
      EventMachine._warn_once(
        "a client called start_tls without verify_peer: true: the server's certificate is not verified"
      )
    end
  end

  class Transport
    attr_writer :tls_settings

    def start_tls = nil

    def tls = nil
  end

  class << self
    # Sets what {start_tls} uses, in the order of EventMachine's C function.
    #
    # @param signature [Integer]
    def set_tls_parms(signature, *settings) = _transport(signature).tls_settings = settings

    # Begins a TLS handshake on a connection. See {Connection#start_tls}.
    #
    # @param signature [Integer]
    def start_tls(signature)
      transport = _transport(signature)
      _in_loop { transport.start_tls }
    end

    # The methods of {Connection} with the same names, by its signature.
    {get_peer_cert: :certificate, get_cipher_bits: :cipher_bits, get_cipher_name: :cipher,
     get_cipher_protocol: :protocol, get_sni_hostname: :server_name}.each do |name, value|
      define_method(name) { |signature| _transport(signature).tls&.public_send(value) }
    end

    # @private
    def _warn_once(text)
      @warned ||= {}
      return if @warned[text]
      @warned[text] = true
      ::Pelton.logger.warn(text)
    end
  end

  class Connection
    # Begins TLS. Versions before TLS 1.2 are used only when they are named.
    #
    # @option options [String] :private_key_file PEM
    # @option options [String] :cert_chain_file PEM; a server without one uses a self-signed certificate
    # @option options [String] :private_key, :cert the same as text
    # @option options [String] :private_key_pass the key's password
    # @option options [Boolean] :verify_peer whether {#ssl_verify_peer} is called with each certificate of the peer's
    #   chain. If a client's handler does not define it, Pelton verifies the server's chain, and its name by
    #   :sni_hostname
    # @option options [Boolean] :fail_if_no_peer_cert whether a server refuses clients without a certificate
    # @option options [String] :sni_hostname the server's name that a client asks for
    # @option options [String] :cipher_list in OpenSSL's format, for TLS 1.2; it turns TLS 1.3 off, unless that is named
    # @option options [String] :ecdh_curve
    # @option options [String] :dhparam a file of Diffie-Hellman parameters
    # @option options [String, Symbol, Array] :ssl_version tlsv1, tlsv1_1, tlsv1_2, tlsv1_3
    # @raise [FileNotFoundException] when a file does not exist
    # @raise [RuntimeError] for an unknown version
    def start_tls(options = {})
      key = options[:private_key_file]
      chain = options[:cert_chain_file]
      [key, chain].each do |file|
        next if file.nil? || file.empty? || File.exist?(file)
        raise FileNotFoundException, "Could not find #{file} for start_tls"
      end
      key, chain = [key || options[:private_key], chain || options[:cert]].map { |one| one unless one.to_s.empty? }
      texts = options.values_at(:sni_hostname, :cipher_list, :ecdh_curve, :dhparam).map do |one|
        one unless one.to_s.empty?
      end
      EventMachine.set_tls_parms(@signature, key, chain, !!options[:verify_peer], !!options[:fail_if_no_peer_cert],
        *texts,
        TLSContexts.protocols(options[:ssl_version]), options[:private_key_pass])
      EventMachine.start_tls(@signature)
      nil
    end

    # @return [String, nil] the peer's certificate, PEM
    def get_peer_cert = @em_transport.tls&.certificate

    # @return [Integer, nil] the bits of the cipher's key
    def get_cipher_bits = @em_transport.tls&.cipher_bits

    # @return [String, nil] the cipher's name
    def get_cipher_name = @em_transport.tls&.cipher

    # @return [String, nil] the version, such as "TLSv1.3"
    def get_cipher_protocol = @em_transport.tls&.protocol

    # @return [String, nil] the server name that the client sent
    def get_sni_hostname = @em_transport.tls&.server_name
  end
end
