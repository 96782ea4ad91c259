# frozen_string_literal: true

require "minitest/mock"
require "tempfile"
require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton"

class TLSContextTest < PeltonTest
  Context = Pelton::TLS::Context

  def test_files_strings_and_objects_are_the_same
    server = Certificates.server
    with_file(server.certificate) do |certificate|
      with_file(server.key) do |key|
        [
          {certificate: certificate, key: key},
          {certificate: server.certificate, key: server.key},
          {certificate: server.x509, key: server.private_key},
          {certificate: server.certificate + server.key}
        ].each { |settings| assert_equal server.certificate, shake(Context.new(**settings)).first.certificate }
      end
    end
  end

  def test_small_keys_are_refused
    key = OpenSSL::PKey::RSA.new(1024)
    certificate = OpenSSL::X509::Certificate.new
    certificate.subject = certificate.issuer = OpenSSL::X509::Name.new([["CN", "small"]])
    certificate.not_before = Time.now - 60
    certificate.not_after = Time.now + 60
    certificate.public_key = key
    certificate.sign(key, "SHA256")

    assert_match(/too small/, assert_raises(Pelton::TLSError) { Context.new(certificate: certificate, key: key) }.message)
  end

  def test_a_key_with_a_password
    locked = Certificates.server.private_key.to_pem(OpenSSL::Cipher.new("aes-128-cbc"), "secret")
    shake(Context.new(certificate: Certificates.server.certificate, key: locked, password: "secret"))

    error = assert_raises(Pelton::TLSError) { Context.new(certificate: Certificates.server.certificate, key: locked, password: "wrong") }
    assert_match(/certificate, or its key/, error.message)
    assert_raises(Pelton::TLSError) { Context.new(certificate: Certificates.server.certificate, key: locked) }
  end

  def test_what_cannot_be_used_is_told
    assert_raises(Pelton::TLSError) { Context.new(certificate: "/nowhere.pem") }
    assert_raises(Pelton::TLSError) { Context.new(certificate: "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n") }
    assert_raises(Pelton::TLSError) { Context.new(certificate: Certificates.server.certificate, key: Certificates.for("other").key) }
    assert_raises(Pelton::TLSError) { Context.new(ca_file: Certificates.server.key) }
    assert_raises(Pelton::TLSError) { Context.new(ciphers: "NOTHING") }
    assert_raises(Pelton::TLSError) { Context.new(groups: "nowhere") }
    assert_raises(Pelton::TLSError) { Context.new(dh: Certificates.server.key) }
    assert_raises(Pelton::TLSError) { Context.new(security_level: 9) }
    assert_raises(ArgumentError) { Context.new(key: Certificates.server.key) }
    assert_raises(ArgumentError) { Context.new(min_version: "SSLv3") }
    assert_raises(ArgumentError) { Context.new(unknown: 1) }
  end

  def test_versions_ciphers_and_groups
    server = Context.new(**Certificates.server.to_h)
    info, = shake(server, trusting(max_version: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384", groups: "P-256"))
    assert_equal ["TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"], [info.protocol, info.cipher]
    info, = shake(server, trusting(ciphersuites: "TLS_CHACHA20_POLY1305_SHA256", min_version: "TLSv1.3"))
    assert_equal ["TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256"], [info.protocol, info.cipher]
    old = {min_version: "TLSv1", max_version: "TLSv1.1", security_level: 0, ciphers: "ALL:@SECLEVEL=0"}
    assert_raises(Pelton::TLSError) { shake(server, trusting(**old)) }
    info, = shake(Context.new(**Certificates.server.to_h, **old), trusting(**old))
    assert_equal "TLSv1.1", info.protocol
  end

  def test_parameters_for_diffie_hellman
    dh = <<~PEM
      -----BEGIN DH PARAMETERS-----
      MIIBCAKCAQEA//////////+t+FRYortKmq/cViAnPTzx2LnFg84tNpWp4TZBFGQz
      +8yTnc4kmz75fS/jY2MMddj2gbICrsRhetPfHtXV/WVhJDP1H18GbtCFY2VVPe0a
      87VXE15/V8k1mE8McODmi3fipona8+/och3xWKE2rec1MKzKT0g6eXq8CrGCsyT7
      YdEIqUuyyOP7uWrat2DX9GgdT0Kj3jlN9K5W7edjcrsZCwenyO4KbXCeAvzhzffi
      7MA0BM0oNC9hkXL+nOmFg/+OTxIy7vKBg8P+OxtMb61zO7X8vC7CIAXFjvGDfRaD
      ssbzSibBsu/6iGtCOGEoXJf//////////wIBAg==
      -----END DH PARAMETERS-----
    PEM

    assert_kind_of Context, Context.new(dh: dh)
  end

  def test_client_certificates
    server = Context.new(**Certificates.server.to_h, ca_file: Certificates.authority, verify: true)
    error = assert_raises(Pelton::TLSError) { shake(server) }
    assert_match(/certificate/, error.message)
    _, seen = shake(server, trusting(**Certificates.for("somebody").to_h))

    assert_equal Certificates.for("somebody").certificate, seen.certificate
    assert seen.verified
  end

  def test_client_certificates_that_are_welcome_and_not_demanded
    server = Context.new(**Certificates.server.to_h, ca_file: Certificates.authority, verify: :optional)
    _, seen = shake(server)

    assert_nil seen.certificate
    refute seen.verified
    _, seen = shake(server, trusting(**Certificates.for("somebody").to_h))
    assert seen.verified
  end

  def test_a_context_for_each_name
    one, two = %w[one.test two.test].map { |name| Context.new(**Certificates.for(name, "*.#{name}").to_h) }
    server = Context.new(**Certificates.server.to_h, sni: {"one.test" => one, "*.two.test" => two})
    {"one.test" => "one.test", "a.two.test" => "two.test", "localhost" => "localhost"}.each do |name, expected|
      assert_equal Certificates.for(*((expected == "localhost") ? [expected, "127.0.0.1", "::1"] : [expected, "*.#{expected}"])).certificate,
        shake(server, name: name).first.certificate
    end
  end

  def test_a_block_chooses_by_the_name
    asked = []
    other = Context.new(**Certificates.for("other.test").to_h)
    server = Context.new(**Certificates.server.to_h, sni: ->(name) { {"other.test" => other, "nobody.test" => false}[asked.push(name).last] })
    shake(server, name: "other.test")
    shake(server)
    shake(server, name: "127.0.0.1")

    assert_raises(Pelton::TLSError) { shake(server, name: "nobody.test") }
    assert_equal ["other.test", "localhost", nil, "nobody.test"], asked
  end

  # The error must not jump over OpenSSL's frames.
  def test_a_block_that_chooses_no_context_ends_the_handshake
    context = Context.new(**Certificates.server.to_h, sni: ->(_name) { "none" })
    Pelton.run do
      client, server = Pelton::Stream.pair
      task = Pelton.spawn { assert_raises(TypeError) { server.start_tls(context, server: true) } }

      assert_raises(Pelton::Error) { client.start_tls(trusting, server_name: "localhost") }
      task.await

      assert_predicate server, :closed?
    end
  end

  def test_reload_brings_new_certificates_to_new_connections
    with_file(Certificates.for("localhost").certificate + Certificates.for("localhost").key) do |path|
      server = Context.new(certificate: path)
      before = shake(server).first.certificate
      renewed = Certificates.for("localhost", valid: -60..7200)
      File.write(path, renewed.certificate + renewed.key)
      assert_equal before, shake(server).first.certificate
      assert_same server, server.reload
      assert_equal renewed.certificate, shake(server).first.certificate
      File.write(path, "nonsense")

      assert_raises(Pelton::TLSError) { server.reload }
      assert_equal renewed.certificate, shake(server).first.certificate
    end
  end

  def test_reload_reads_those_of_other_names_too
    with_file(Certificates.for("a.example").certificate + Certificates.for("a.example").key) do |path|
      other = Context.new(certificate: path)
      server = Context.new(**Certificates.server.to_h, sni: {"a.example" => other, "b.example" => other})
      renewed = Certificates.for("a.example", valid: -60..7200)
      File.write(path, renewed.certificate + renewed.key)
      server.reload

      assert_equal renewed.certificate, shake(server, name: "a.example").first.certificate
    end
  end

  def test_a_reload_keeps_clients_sessions_good
    server = Context.new(**Certificates.server.to_h)
    client = trusting
    shake(server, client)
    server.reload

    assert shake(server, client).first.resumed
  end

  def test_resumption_can_be_switched_off
    server = Context.new(**Certificates.server.to_h, resumption: false)
    client = trusting
    shake(server, client)

    refute shake(server, client).first.resumed
  end

  def test_inspect_shows_no_key
    refute_match(/PRIVATE/, Context.new(**Certificates.server.to_h).inspect)
  end

  def test_without_openssl_it_says_what_to_do
    Pelton::TLS.stub(:available?, false) do
      assert_match(/libssl-dev/, assert_raises(Pelton::TLSError) { Context.new }.message)
    end
  end

  private

  def trusting(**settings) = Context.new(ca_file: Certificates.authority, **settings)

  # What client and server have to say about a connection on which a line went either way.
  def shake(server_context, client_context = trusting, name: "localhost")
    Pelton.run do
      client, server = Pelton::Stream.pair
      task = Pelton.spawn do
        server.start_tls(server_context, server: true)
        server.write(server.gets)
      rescue Pelton::Error => error
        error
      end
      client.start_tls(client_context, server_name: name)
      client.write("x\n")
      assert_equal "x\n", client.gets # TLS 1.3 tells a client of the server's refusal only now
      task.await
      [client.tls, server.tls]
    ensure
      client.abort
      server.abort
    end
  end

  def with_file(content)
    Tempfile.create("pem") do |file|
      file.write(content)
      file.close
      yield file.path
    end
  end
end
