# frozen_string_literal: true

require "fileutils"
require_relative "../x509"

module Pelton
  module HTTP
    module Acme
      # Where a server's account, certificate and challenges are kept: files that only their owner can read, and that
      # are replaced as a whole.
      #
      # | file | |
      # |---|---|
      # | `account.pem` | the key of the account at the authority |
      # | `certificate.pem` | the certificate, its chain and its key, in one file: it is replaced as a whole |
      # | `challenges/` | what the authority will ask for, while an order is under way |
      # | `lock` | is locked by the process that renews |
      # @private
      class Folder
        PLACEHOLDER = "Pelton's placeholder" # the organization in a certificate that the server has made itself
        WEEK = 604_800
        TOKEN = /\A[\w-]{1,200}\z/ # RFC 8555, section 8.1: base64url
        private_constant :PLACEHOLDER, :WEEK, :TOKEN

        # @return [Array<String>] the names that the certificate is for
        attr_reader :names

        # @param path [String]
        # @param names [Array<String>]
        def initialize(path, names)
          @path = File.expand_path(path)
          @names = names
        end

        # @return [String] the path of the file with the certificate and its key
        def certificate_path = File.join(@path, "certificate.pem")

        # Makes the folder, and a certificate that no client trusts, unless there is one: so the server can start.
        #
        # @return [self]
        # @raise [SystemCallError] the folder cannot be written
        def prepare
          FileUtils.mkdir_p(File.join(@path, "challenges"), mode: 0o700)
          X509.write(certificate_path, placeholder.to_pem) unless certificate
          self
        end

        # @return [OpenSSL::X509::Certificate, nil] nil: there is none, or it cannot be read
        def certificate
          OpenSSL::X509::Certificate.new(File.read(certificate_path))
        rescue SystemCallError, OpenSSL::X509::CertificateError
          nil
        end

        # Whether the certificate is the server's own.
        def placeholder?(one = certificate) = one.nil? || one.subject.to_a.any? { |_, value, _| value == PLACEHOLDER }

        # Whether it is time for a new certificate: a third of the old one's life is left, or its names are others.
        #
        # @param now [Time]
        def due?(now = Time.now)
          one = certificate
          return true if placeholder?(one) || (names - names_of(one)).any?
          now >= one.not_after - (one.not_after - one.not_before) / 3
        end

        # @param chain [String] PEM, the certificate first
        # @param key [String] PEM
        # @return [nil]
        # @raise [SystemCallError]
        def store(chain, key) = X509.write(certificate_path, "#{chain.chomp}\n#{key}")

        # The key of the account, which is made once.
        #
        # @return [OpenSSL::PKey::EC]
        def account_key
          path = File.join(@path, "account.pem")
          X509.write(path, OpenSSL::PKey::EC.generate("prime256v1").to_pem) unless File.exist?(path)
          OpenSSL::PKey::EC.new(File.read(path))
        end

        # @return [String, nil] what the authority expects at this token
        def challenge(token)
          File.read(File.join(@path, "challenges", token)) if token.match?(TOKEN)
        rescue SystemCallError
          nil
        end

        # @return [String, nil] the path of the certificate that the authority expects for this name, with its key
        def challenge_certificate(name)
          path = certificate_for(name) if names.include?(name)
          path if path && File.file?(path)
        end

        # Yields while the authority may ask for a token.
        #
        # @param token [String]
        # @param answer [String]
        def offering(token, answer, &block)
          raise Error, "the authority's token is invalid: #{token.inspect}" unless token.match?(TOKEN)
          while_there(File.join(@path, "challenges", token), answer, &block)
        end

        # Yields while the authority may ask for a name's certificate.
        #
        # @param name [String]
        # @param pem [String] the certificate and its key
        def offering_certificate(name, pem, &block)
          raise Error, "the authority asks for a name that is not ours: #{name.inspect}" unless names.include?(name)
          while_there(certificate_for(name), pem, &block)
        end

        # Yields if no other process renews.
        #
        # @return [Object, nil] the block's value; nil: another process does
        def alone
          File.open(File.join(@path, "lock"), File::RDWR | File::CREAT, 0o600) do |lock|
            yield if lock.flock(File::LOCK_EX | File::LOCK_NB)
          end
        end

        private

        # No token has a dot.
        def certificate_for(name) = File.join(@path, "challenges", "#{name}.pem")

        def while_there(path, text)
          X509.write(path, text)
          yield
        ensure
          FileUtils.rm_f(path)
        end

        def names_of(certificate)
          names = certificate.extensions.find { |extension| extension.oid == "subjectAltName" }
          names ? names.value.scan(/DNS:([^,\s]+)/).flatten.map(&:downcase) : []
        end

        def placeholder = X509.make({"CN" => names.first, "O" => PLACEHOLDER},
          seconds: WEEK, extensions: {"subjectAltName" => X509.alternatives(names)})
      end
    end
  end
end
