# frozen_string_literal: true

require "openssl"

module Pelton
  module HTTP
    # Makes certificates: for a server that has none yet, and for development.
    # @private
    module X509
      # A certificate and its key.
      Identity = Struct.new(:certificate, :key) do
        # @return [String] both, in PEM
        def to_pem = certificate.to_pem + key.to_pem
      end

      class << self
        # @param subject [Hash{String => String}] such as {"CN" => "localhost"}
        # @param seconds [Integer] how long it is valid
        # @param issuer [Identity, nil] nil: it signs itself
        # @param extensions [Hash{String => String}] in OpenSSL's words; "critical" comes first, with a comma
        # @param others [Array<OpenSSL::X509::Extension>] for which OpenSSL has no words
        # @return [Identity]
        def make(subject, seconds:, issuer: nil, extensions: {}, others: [])
          key = OpenSSL::PKey::EC.generate("prime256v1")
          certificate = described(subject, seconds, key)
          authority = issuer&.certificate || certificate
          certificate.issuer = authority.subject
          factory = OpenSSL::X509::ExtensionFactory.new(authority, certificate)
          extensions.each do |name, value|
            critical = value.start_with?("critical,")
            certificate.add_extension(factory.create_extension(name, value.delete_prefix("critical,"), critical))
          end
          others.each { |extension| certificate.add_extension(extension) }
          Identity.new(certificate.sign(issuer&.key || key, "SHA256"), key)
        end

        # @param names [Array<String>] of hosts, and addresses
        # @return [String] the value of subjectAltName
        def alternatives(names) = names.map { |name| "#{name.match?(/\A[\d.]+\z|:/) ? "IP" : "DNS"}:#{name}" }.join(",")

        # Writes a file that its owner alone can read, in place of the one that is there.
        def write(path, text)
          File.write("#{path}.new", text, perm: 0o600)
          File.rename("#{path}.new", path)
          nil
        end

        private

        def described(subject, seconds, key)
          certificate = OpenSSL::X509::Certificate.new
          certificate.version = 2
          certificate.serial = OpenSSL::BN.rand(64)
          certificate.subject = OpenSSL::X509::Name.new(subject.to_a)
          certificate.not_before = Time.now - 60
          certificate.not_after = Time.now + seconds
          certificate.public_key = key
          certificate
        end
      end
    end
  end
end
