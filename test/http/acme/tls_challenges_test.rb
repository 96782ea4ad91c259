# frozen_string_literal: true

require "tmpdir"
require_relative "../../test_helper"
require_relative "../../support/certificates"
require_relative "../../support/sockets"
require "pelton/http"
require "pelton/http/acme"

class HTTPAcmeTLSChallengesTest < PeltonTest
  include Sockets

  TLSChallenges = Pelton::HTTP::Acme::TLSChallenges
  # As versions of OpenSSL name it.
  IDENTIFIER = %w[1.3.6.1.5.5.7.1.31 acmeIdentifier id-pe-acmeIdentifier].freeze

  def setup
    @path = Dir.mktmpdir
    @folder = Pelton::HTTP::Acme::Folder.new(@path, ["a.example"]).prepare
  end

  def teardown = FileUtils.rm_rf(@path)

  # RFC 8737, section 3.
  def test_the_certificate_that_the_authority_expects
    certificate = OpenSSL::X509::Certificate.new(TLSChallenges.certificate("a.example", "token.thumbprint"))
    extensions = certificate.extensions.to_h { |extension| [extension.oid, extension] }
    identifier = extensions.values_at(*IDENTIFIER).compact.first

    assert_equal "DNS:a.example", extensions.fetch("subjectAltName").value
    assert_predicate identifier, :critical?
    digest = OpenSSL::ASN1::OctetString.new(OpenSSL::Digest.digest("SHA256", "token.thumbprint"))
    assert_equal digest.to_der, identifier.value_der
  end

  def test_a_handshake_during_the_order
    serve do |port|
      @folder.offering_certificate("a.example", TLSChallenges.certificate("a.example", "token.thumbprint")) do
        protocol, certificate, rest = ask(port, "a.example", ["acme-tls/1"])

        assert_equal "acme-tls/1", protocol
        assert_equal "/CN=a.example", certificate.subject.to_s
        assert_empty rest, "requests that come on this connection"
      end
    end
  end

  def test_a_handshake_at_any_other_time
    serve do |port|
      assert_raises(OpenSSL::SSL::SSLError) { ask(port, "a.example", ["acme-tls/1"]) }
    end
  end

  def test_other_names_are_refused
    serve do |port|
      @folder.offering_certificate("a.example", TLSChallenges.certificate("a.example", "token.thumbprint")) do
        ["other.example", "../account", nil].each do |name|
          assert_raises(OpenSSL::SSL::SSLError, name.inspect) { ask(port, name, ["acme-tls/1"]) }
        end
      end
    end
  end

  # An authority offers this protocol alone.
  def test_other_clients_meet_the_server
    serve do |port|
      @folder.offering_certificate("a.example", TLSChallenges.certificate("a.example", "token.thumbprint")) do
        [nil, ["http/1.1"], ["acme-tls/1", "http/1.1"]].each do |protocols|
          _, certificate, answer = ask(port, "a.example", protocols)

          assert_equal @folder.certificate.to_der, certificate.to_der, protocols.inspect
          assert_equal "hello", answer.split("\r\n\r\n").last, protocols.inspect
        end
      end
    end
  end

  # The authority has none, and whoever comes that way reaches no application.
  def test_where_clients_need_certificates
    serve(verify: true, ca_file: Certificates.authority) do |port|
      @folder.offering_certificate("a.example", TLSChallenges.certificate("a.example", "token.thumbprint")) do
        protocol, _, rest = ask(port, "a.example", ["acme-tls/1"])

        assert_equal "acme-tls/1", protocol
        assert_empty rest
      end
    end
  end

  private

  # Yields the port of a server with the folder's certificate.
  def serve(**tls)
    Pelton.run do
      tls = {certificate: @folder.certificate_path, handshake_only: TLSChallenges.contexts(@folder), **tls}
      server = Pelton::HTTP::Server.new(->(_env) { [200, {}, ["hello"]] })
      listener = server.listen("ssl://127.0.0.1:0", tls: Pelton::HTTP.tls_context(tls, http2: Pelton::HTTP.http2?))
      yield listener.port
    ensure
      server&.stop
    end
  end

  # Returns the protocol that was agreed on, the server's certificate, and what it answers.
  def ask(port, name, protocols)
    settings = OpenSSL::SSL::SSLContext.new
    settings.alpn_protocols = protocols if protocols
    tls = tls_socket(port, name: name, context: settings)
    [tls.alpn_protocol, tls.peer_cert, exchange(tls)]
  ensure
    tls&.close
  end

  def exchange(tls)
    tls.write("GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
    tls.read
  rescue SystemCallError, OpenSSL::SSL::SSLError
    ""
  end
end
