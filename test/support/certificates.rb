# frozen_string_literal: true

require "openssl"

# Certificates for tests: an authority, and identities that it signs. They are made once a run, with small keys that are
# quick to make.
module Certificates
  # A certificate and its key, in PEM.
  Identity = Struct.new(:certificate, :key) do
    def to_h = {certificate: certificate, key: key}

    def x509 = OpenSSL::X509::Certificate.new(certificate)

    def private_key = OpenSSL::PKey.read(key)
  end

  class << self
    # The authority's certificate, in PEM.
    def authority = authority_identity.certificate

    # An identity that the authority has signed, for these names and addresses.
    def for(*names, valid: -60..3600)
      (@made ||= {})[[names, valid]] ||= make(names.first, names, valid, authority_identity)
    end

    # One for localhost.
    def server = self.for("localhost", "127.0.0.1", "::1")

    private

    def authority_identity = @authority_identity ||= make("Test authority", [], -60..3600, nil)

    def make(common_name, names, valid, issuer)
      key = OpenSSL::PKey::EC.generate("prime256v1")
      certificate = OpenSSL::X509::Certificate.new
      certificate.version = 2
      certificate.serial = (@serial = (@serial || 0) + 1)
      certificate.subject = OpenSSL::X509::Name.new([["CN", common_name]])
      certificate.issuer = issuer ? issuer.x509.subject : certificate.subject
      certificate.not_before = Time.now + valid.begin
      certificate.not_after = Time.now + valid.end
      certificate.public_key = key
      extend_certificate(certificate, issuer&.x509 || certificate, names, !issuer)
      certificate.sign(issuer&.private_key || key, "SHA256")
      Identity.new(certificate.to_pem, key.respond_to?(:private_to_pem) ? key.private_to_pem : key.to_pem)
    end

    def extend_certificate(certificate, issuer, names, authority)
      factory = OpenSSL::X509::ExtensionFactory.new(issuer, certificate)
      certificate.add_extension(factory.create_extension("basicConstraints", "CA:#{authority.to_s.upcase}", true))
      certificate.add_extension(factory.create_extension("subjectKeyIdentifier", "hash"))
      return if names.empty?
      names = names.map { |name| "#{name.match?(/\A[\d.]+\z|:/) ? "IP" : "DNS"}:#{name}" }
      certificate.add_extension(factory.create_extension("subjectAltName", names.join(",")))
    end
  end
end
