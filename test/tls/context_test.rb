# frozen_string_literal: true

require "minitest/mock"
require "tempfile"
require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton"

class TLSContextTest < PeltonTest
  Context = Pelton::TLS::Context

  def test_certificates_come_from_files_strings_or_objects
    server = Certificates.server
    with_file(server.certificate) do |certificate|
      with_file(server.key) do |key|
        [
          {certificate: certificate, key: key},
          {certificate: server.certificate, key: server.key},
          {certificate: server.x509, key: server.private_key},
          {certificate: server.certificate + server.key}
        ].each { |settings| assert_equal server.certificate, handshake(Context.new(**settings)).first.certificate }
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

    assert_match(/too small/,
      assert_raises(Pelton::TLSError) { Context.new(certificate: certificate, key: key) }.message)
  end

  def test_a_key_with_a_password
    locked = Certificates.server.private_key.to_pem(OpenSSL::Cipher.new("aes-128-cbc"), "secret")
    handshake(Context.new(certificate: Certificates.server.certificate, key: locked, password: "secret"))

    error = assert_raises(Pelton::TLSError) do
      Context.new(certificate: Certificates.server.certificate, key: locked, password: "wrong")
    end
    assert_match(/certificate or its key/, error.message)
    assert_raises(Pelton::TLSError) { Context.new(certificate: Certificates.server.certificate, key: locked) }
  end

  def test_unusable_settings_raise
    assert_raises(Pelton::TLSError) { Context.new(certificate: "/nowhere.pem") }
    assert_raises(Pelton::TLSError) do
      Context.new(certificate: "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n")
    end
    assert_raises(Pelton::TLSError) do
      Context.new(certificate: Certificates.server.certificate, key: Certificates.for("other").key)
    end
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
    info, =
      handshake(server, trusting(max_version: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384", groups: "P-256"))
    assert_equal "TLSv1.2", info.protocol
    assert_equal "ECDHE-ECDSA-AES256-GCM-SHA384", info.cipher
    info, = handshake(server, trusting(ciphersuites: "TLS_CHACHA20_POLY1305_SHA256", min_version: "TLSv1.3"))
    assert_equal "TLSv1.3", info.protocol
    assert_equal "TLS_CHACHA20_POLY1305_SHA256", info.cipher
    old = {min_version: "TLSv1", max_version: "TLSv1.1", security_level: 0, ciphers: "ALL:@SECLEVEL=0"}
    assert_raises(Pelton::TLSError) { handshake(server, trusting(**old)) }
    info, = handshake(Context.new(**Certificates.server.to_h, **old), trusting(**old))
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
    error = assert_raises(Pelton::TLSError) { handshake(server) }
    assert_match(/certificate/, error.message)
    _, seen = handshake(server, trusting(**Certificates.for("somebody").to_h))

    assert_equal Certificates.for("somebody").certificate, seen.certificate
    assert seen.verified
  end

  def test_optional_client_certificates
    server = Context.new(**Certificates.server.to_h, ca_file: Certificates.authority, verify: :optional)
    _, seen = handshake(server)

    assert_nil seen.certificate
    refute seen.verified
    _, seen = handshake(server, trusting(**Certificates.for("somebody").to_h))
    assert seen.verified
  end

  def test_a_context_for_each_name
    one, two = %w[one.test two.test].map { |name| Context.new(**Certificates.for(name, "*.#{name}").to_h) }
    server = Context.new(**Certificates.server.to_h, sni: {"one.test" => one, "*.two.test" => two})
    {"one.test" => "one.test", "a.two.test" => "two.test", "localhost" => "localhost"}.each do |name, expected|
      assert_equal Certificates.for(*((expected == "localhost") ? [expected, "127.0.0.1",
        "::1"] : [expected, "*.#{expected}"])).certificate,
        handshake(server, name: name).first.certificate
    end
  end

  def test_an_sni_block_chooses_the_context
    asked = []
    other = Context.new(**Certificates.for("other.test").to_h)
    server = Context.new(**Certificates.server.to_h, sni: ->(name) {
      {"other.test" => other,
       "nobody.test" => false}[asked.push(name).last]
    })
    handshake(server, name: "other.test")
    handshake(server)
    handshake(server, name: "127.0.0.1")

    assert_raises(Pelton::TLSError) { handshake(server, name: "nobody.test") }
    assert_equal ["other.test", "localhost", nil, "nobody.test"], asked
  end

  # The exception must not unwind through OpenSSL's stack frames.
  def test_an_sni_block_that_returns_another_object_ends_the_handshake
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
      before = handshake(server).first.certificate
      renewed = Certificates.for("localhost", valid: -60..7200)
      File.write(path, renewed.certificate + renewed.key)
      assert_equal before, handshake(server).first.certificate
      assert_same server, server.reload
      assert_equal renewed.certificate, handshake(server).first.certificate
      File.write(path, "nonsense")

      assert_raises(Pelton::TLSError) { server.reload }
      assert_equal renewed.certificate, handshake(server).first.certificate
    end
  end

  def test_the_files_that_are_read_again
    Dir.mktmpdir do |folder|
      identity = Certificates.server
      paths = {certificate: "#{folder}/certificate.pem", key: "#{folder}/key.pem"}
      paths.each { |name, path| File.write(path, identity.public_send(name)) }
      other = Pelton::TLS::Context.new(**paths)

      assert_equal paths.values, other.files
      assert_empty Pelton::TLS::Context.new(**identity.to_h).files, "PEM text is no file"
      assert_equal paths.values, Pelton::TLS::Context.new(**identity.to_h, sni: {"a.example" => other}).files
    end
  end

  def test_reload_reloads_the_contexts_of_other_names
    with_file(Certificates.for("a.example").certificate + Certificates.for("a.example").key) do |path|
      other = Context.new(certificate: path)
      server = Context.new(**Certificates.server.to_h, sni: {"a.example" => other, "b.example" => other})
      renewed = Certificates.for("a.example", valid: -60..7200)
      File.write(path, renewed.certificate + renewed.key)
      server.reload

      assert_equal renewed.certificate, handshake(server, name: "a.example").first.certificate
    end
  end

  def test_clients_resume_their_sessions_after_a_reload
    server = Context.new(**Certificates.server.to_h)
    client = trusting
    handshake(server, client)
    server.reload

    assert handshake(server, client).first.resumed
  end

  def test_resumption_false
    server = Context.new(**Certificates.server.to_h, resumption: false)
    client = trusting
    handshake(server, client)

    refute handshake(server, client).first.resumed
  end

  def test_inspect_shows_no_key
    assert_equal "#<Pelton::TLS::Context>", Context.new(**Certificates.server.to_h).inspect
  end

  def test_without_openssl_the_error_names_the_missing_package
    Pelton::TLS.stub(:available?, false) do
      assert_match(/libssl-dev/, assert_raises(Pelton::TLSError) { Context.new }.message)
    end
  end

  private

  def trusting(**settings) = Context.new(ca_file: Certificates.authority, **settings)

  # Connects a client and a server, sends a line both ways, and returns the TLS::Info of both.
  def handshake(server_context, client_context = trusting, name: "localhost")
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
      assert_equal "x\n", client.gets # under TLS 1.3 the client meets the server's refusal only now
      task.await
      [client.tls, server.tls]
    ensure
      client.abort
      server.abort
    end
  end
end
