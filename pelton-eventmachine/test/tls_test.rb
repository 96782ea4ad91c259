# frozen_string_literal: true

require "openssl"
require "tempfile"
require_relative "helper"
require "support/certificates"

class EventMachineTLSTest < EventMachineTest
  SERVER = Certificates.server
  CLIENT = Certificates.for("client")
  FILES = [SERVER, CLIENT].to_h do |identity|
    paths = {private_key_file: identity.key, cert_chain_file: identity.certificate}.transform_values do |pem|
      Tempfile.new("pem").tap { |file| file.write(pem) && file.flush }
    end
    [identity, paths]
  end

  def files(identity) = FILES.fetch(identity).transform_values(&:path)

  # Runs a server and a client, which begin TLS with these options in post_init, until the client's connection is
  # closed.
  #
  # @return [Hash] :server and :client, the properties of each side's TLS after the handshake; :data, the data that the
  #   client received; :reason, the argument of its unbind
  def shake(server, client, server_methods: {}, client_methods: {})
    seen = {}
    info = ->(side) do
      ->(*) { seen[side] = [get_cipher_protocol, get_peer_cert, get_sni_hostname, get_cipher_bits, get_cipher_name] }
    end
    em do
      port = serve(handler({post_init: -> { start_tls(server) }, ssl_handshake_completed: info.call(:server),
                            receive_data: ->(data) { send_data(data.upcase) }}.merge(server_methods)))
      EM.connect("127.0.0.1", port, handler({post_init: -> { start_tls(client) || send_data("hello") },
                                             ssl_handshake_completed: info.call(:client),
                                             receive_data: ->(data) { (seen[:data] = data) && close_connection },
                                             unbind: ->(reason) {
                                               seen.update(reason: reason) &&
                                                                                            EM.stop
                                             }}.merge(client_methods)))
      EM.add_timer(LIMIT - 1) { raise seen.inspect }
    end
    seen
  end

  def test_a_server_needs_no_certificate
    seen = shake({}, {sni_hostname: "example.com"})

    assert_equal "HELLO", seen[:data]
    assert_equal ["TLSv1.3", nil, "example.com"], seen[:server].first(3)
    assert_match(/BEGIN CERTIFICATE/, seen[:client][1])
    assert_operator seen[:client][3], :>=, 128
    assert_match(/AES|CHACHA/, seen[:client][4])
  end

  def test_certificates_come_from_files_or_as_text
    assert_equal SERVER.certificate, shake(files(SERVER), {})[:client][1]
    assert_equal SERVER.certificate, shake({cert: SERVER.certificate, private_key: SERVER.key}, {})[:client][1]
  end

  def test_a_key_may_have_a_password
    key = SERVER.private_key.private_to_pem(OpenSSL::Cipher.new("aes-256-cbc"), "secret")

    assert_equal SERVER.certificate,
      shake({cert: SERVER.certificate, private_key: key, private_key_pass: "secret"}, {})[:client][1]
  end

  def test_a_server_verifies_client_certificates_by_its_handler
    seen = []
    verify = {ssl_verify_peer: ->(pem) { seen << pem }}
    result = shake({verify_peer: true}, files(CLIENT), server_methods: verify)

    assert_includes seen, CLIENT.certificate
    assert_equal CLIENT.certificate, result[:server][1]
  end

  def test_a_refused_client_completes_no_handshake
    seen = shake({verify_peer: true}, files(CLIENT), server_methods: {ssl_verify_peer: ->(_) { false }})

    assert_equal [nil, nil], seen.values_at(:client, :server)
  end

  def test_a_server_may_demand_a_certificate
    verify = {ssl_verify_peer: ->(_) { true }}

    assert_nil shake({verify_peer: true, fail_if_no_peer_cert: true}, {}, server_methods: verify)[:client]
    assert shake({verify_peer: true}, {}, server_methods: verify)[:client]
  end

  def test_a_client_verifies_the_servers_certificate_by_its_handler
    seen = []
    shake(files(SERVER), {verify_peer: true}, client_methods: {ssl_verify_peer: ->(pem) { seen << pem }})

    assert_includes seen, SERVER.certificate
  end

  def test_a_client_without_ssl_verify_peer_has_the_certificate_verified
    seen = shake(files(SERVER), {verify_peer: true, sni_hostname: "localhost"})

    assert_same Errno::EPROTO, seen[:reason]
    assert_nil seen[:client]
  end

  def test_a_client_without_verification_is_logged_once
    output = StringIO.new
    EM.instance_variable_set(:@warned, nil)
    before = Pelton.logger
    Pelton.logger = Logger.new(output)
    2.times { shake({}, {}) }

    assert_equal 1, output.string.scan("verify_peer").size
  ensure
    Pelton.logger = before
  end

  def test_versions_and_ciphers_are_chosen
    assert_equal "TLSv1.2", shake({ssl_version: %w[tlsv1_2]}, {})[:client].first
    assert_equal "TLSv1", shake({ssl_version: :TLSv1}, {ssl_version: %w[tlsv1 tlsv1_1]})[:client].first
    seen = shake({cipher_list: "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384", ecdh_curve: "prime256v1"},
      {})

    assert_match(/ECDHE-.*-AES256-GCM-SHA384/, seen[:client].last)
    assert_nil shake({ssl_version: "sslv3"}, {})[:client]
    assert_nil shake({cipher_list: "ECDH"}, {})[:client]
    assert_nil shake({cipher_list: "DHE"}, {})[:client]
  end

  def test_tls_may_begin_in_the_middle_of_a_connection
    data = nil
    em do
      port = serve(handler(receive_data: lambda do |bytes|
        send_data("go ahead") && start_tls if bytes == "STARTTLS"
        send_data("sealed") if bytes == "more"
      end))
      EM.connect("127.0.0.1", port, handler(
        post_init: -> { send_data("STARTTLS") },
        receive_data: ->(bytes) { (bytes == "go ahead") ? start_tls : (data = bytes) && EM.stop },
        ssl_handshake_completed: -> { send_data("more") }
      ))
    end

    assert_equal "sealed", data
  end

  def test_an_error_in_ssl_verify_peer_leaves_run
    error = assert_raises(RuntimeError) do
      shake({verify_peer: true}, files(CLIENT), server_methods: {ssl_verify_peer: ->(_) { raise "no" }})
    end

    assert_equal "no", error.message
  end

  def test_mistakes_raise
    connection = EM::Connection.new(nil)
    error = assert_raises(EM::FileNotFoundException) { connection.start_tls(private_key_file: "/nowhere/at/all") }

    assert_equal "Could not find /nowhere/at/all for start_tls", error.message
    assert_raises(RuntimeError) { connection.start_tls(ssl_version: :nope) }
    assert_predicate EM, :ssl?
  end
end
