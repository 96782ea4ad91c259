# frozen_string_literal: true

require "fileutils"
require_relative "x509"

module Pelton
  module HTTP
    # An authority of this machine's own, for development over TLS (`tls true`): it is made once, and a browser that
    # trusts it trusts each program here. Its certificates are for this machine alone, even if its key is stolen: the
    # authority's certificate says so (RFC 5280, section 4.2.1.10).
    # @private
    class LocalAuthority
      DAY = 86_400
      YEARS = 3650 * DAY # of the authority
      VALID = 397 * DAY # of a certificate: what browsers accept
      SOON = 30 * DAY
      NAMES = %w[localhost *.localhost 127.0.0.1 ::1].freeze
      AUTHORITY = {
        "basicConstraints" => "critical,CA:TRUE,pathlen:0",
        "keyUsage" => "critical,keyCertSign,cRLSign",
        "subjectKeyIdentifier" => "hash",
        "nameConstraints" => "critical,permitted;DNS:localhost,permitted;IP:127.0.0.0/255.0.0.0," \
          "permitted;IP:0:0:0:0:0:0:0:1/FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF"
      }.freeze
      private_constant :DAY, :YEARS, :VALID, :SOON, :NAMES, :AUTHORITY

      # @return [LocalAuthority] the user's
      def self.default = new(File.join(ENV["XDG_DATA_HOME"] || File.join(Dir.home, ".local/share"), "pelton"))

      # @param folder [String]
      def initialize(folder)
        @folder = folder
      end

      # @return [String] the path of the authority's certificate, to be trusted
      def path = File.join(@folder, "authority.pem")

      # Makes what is missing, or ends soon.
      #
      # @return [String] the path of a file with the certificate for this machine, and its key
      # @raise [SystemCallError] the folder cannot be written
      def prepare
        FileUtils.mkdir_p(@folder, mode: 0o700)
        authority = read_authority || make_authority
        file = File.join(@folder, "localhost.pem")
        X509.write(file, make(authority).to_pem) unless usable?(file, authority)
        file
      end

      private

      def key_path = File.join(@folder, "authority-key.pem")

      def read_authority
        identity = X509::Identity.new(OpenSSL::X509::Certificate.new(File.read(path)),
          OpenSSL::PKey::EC.new(File.read(key_path)))
        identity if identity.certificate.not_after > Time.now + SOON
      rescue Errno::ENOENT, OpenSSL::OpenSSLError
        nil
      end

      def make_authority
        identity =
          X509.make({"CN" => "Pelton, development on #{Socket.gethostname}"}, seconds: YEARS, extensions: AUTHORITY)
        X509.write(key_path, identity.key.to_pem)
        X509.write(path, identity.certificate.to_pem)
        identity
      end

      def make(authority)
        extensions = {
          "basicConstraints" => "critical,CA:FALSE",
          "keyUsage" => "critical,digitalSignature",
          "extendedKeyUsage" => "serverAuth",
          "subjectAltName" => X509.alternatives(NAMES)
        }
        X509.make({"CN" => "localhost"}, seconds: VALID, issuer: authority, extensions: extensions)
      end

      def usable?(file, authority)
        certificate = OpenSSL::X509::Certificate.new(File.read(file))
        certificate.not_after > Time.now + SOON && certificate.verify(authority.certificate.public_key)
      rescue Errno::ENOENT, OpenSSL::OpenSSLError
        false
      end
    end
  end
end
