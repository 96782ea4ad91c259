# frozen_string_literal: true

require_relative "../x509"

module Pelton
  module HTTP
    module Acme
      # Answers the authority by a certificate, in a handshake that asks for nothing else: TLS-ALPN-01 (RFC 8737).
      # @private
      module TLSChallenges
        PROTOCOL = "acme-tls/1"
        IDENTIFIER = "1.3.6.1.5.5.7.1.31" # section 3: id-pe-acmeIdentifier
        HOUR = 3600
        private_constant :PROTOCOL, :IDENTIFIER, :HOUR

        class << self
          # @param name [String]
          # @param authorization [String] the challenge's token and the account's thumbprint
          # @return [String] the certificate that the authority expects, with its key, in PEM
          def certificate(name, authorization)
            digest = OpenSSL::ASN1::OctetString.new(OpenSSL::Digest.digest("SHA256", authorization))
            X509.make({"CN" => name}, seconds: HOUR, extensions: {"subjectAltName" => X509.alternatives([name])},
              others: [OpenSSL::X509::Extension.new(IDENTIFIER, digest.to_der, true)]).to_pem
          end

          # @param folder [Folder]
          # @return [Hash{String => Proc}] see `handshake_only:` of {TLS::Context#initialize}
          def contexts(folder)
            {PROTOCOL => lambda do |name|
              path = folder.challenge_certificate(name)
              TLS::Context.new(certificate: path, alpn: [PROTOCOL]) if path
            end}
          end
        end
      end
    end
  end
end
