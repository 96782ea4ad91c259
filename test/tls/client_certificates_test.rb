# frozen_string_literal: true

require "openssl"
require_relative "../test_helper"
require_relative "../support/certificates"
require_relative "../support/sockets"
require "pelton"

# Which client is asked for a certificate, and that no ticket opens what the certificate was asked for.
class TLSClientCertificatesTest < PeltonTest
  include Sockets

  Context = Pelton::TLS::Context

  def test_a_chosen_context_demands_its_own_certificates
    serve(public_context(sni: {"admin.test" => admin_context})) do |port|
      assert_equal "new, unverified", ask(port, "localhost").first
      assert_raises(OpenSSL::SSL::SSLError) { ask(port, "admin.test") }
      assert_equal "new, verified", ask(port, "admin.test", certificate: Certificates.for("somebody")).first
    end
  end

  def test_a_chosen_context_without_a_wish_keeps_the_listeners_demand
    server = Context.new(**Certificates.server.to_h, ca_file: Certificates.authority, verify: true,
      sni: {"plain.test" => Context.new(**Certificates.for("plain.test").to_h, ca_file: Certificates.authority)})

    serve(server) { |port| assert_raises(OpenSSL::SSL::SSLError) { ask(port, "plain.test") } }
  end

  def test_a_chosen_context_brings_its_block
    seen = []
    admin =
      Context.new(**Certificates.for("admin.test").to_h, on_certificate: ->(certificate) {
        seen << certificate.depth &&
              false
      })

    serve(public_context(sni: {"admin.test" => admin})) do |port|
      assert_raises(OpenSSL::SSL::SSLError) { ask(port, "admin.test", certificate: Certificates.for("somebody")) }
      assert_predicate seen, :any?
    end
  end

  def test_a_chosen_context_that_verifies_must_say_whom_it_trusts
    server = public_context(sni: {"admin.test" => Context.new(**Certificates.for("admin.test").to_h, verify: true)})

    serve(server) { |port| assert_raises(OpenSSL::SSL::SSLError) { ask(port, "admin.test") } }
    assert_match(/ca_file/, @refusals.first.message)
  end

  def test_the_versions_of_a_chosen_context_hold
    modern = Context.new(**Certificates.for("modern.test").to_h, min_version: "TLSv1.3")

    serve(public_context(sni: {"modern.test" => modern})) do |port|
      assert_raises(OpenSSL::SSL::SSLError) { ask(port, "modern.test", version: OpenSSL::SSL::TLS1_2_VERSION) }
      assert_equal "new, unverified", ask(port, "modern.test").first
    end
  end

  {"1.2" => OpenSSL::SSL::TLS1_2_VERSION, "1.3" => OpenSSL::SSL::TLS1_3_VERSION}.each do |name, version|
    define_method(:"test_a_ticket_of_one_name_does_not_open_another_with_TLS_#{name}") do
      serve(public_context(sni: {"admin.test" => admin_context})) do |port|
        _, ticket = ask(port, "localhost", version: version)

        assert_equal "resumed, unverified", ask(port, "localhost", version: version, session: ticket).first
        assert_raises(OpenSSL::SSL::SSLError) { ask(port, "admin.test", version: version, session: ticket) }
      end
    end

    define_method(:"test_a_ticket_of_an_unverified_connection_opens_no_verified_one_with_TLS_#{name}") do
      context = Context.new(**Certificates.server.to_h, ca_file: Certificates.authority)
      serve(context, [{verify: false}, {verify: true}]) do |port|
        _, ticket = ask(port, "localhost", version: version)
        assert_raises(OpenSSL::SSL::SSLError) { ask(port, "localhost", version: version, session: ticket) }
      end
    end
  end

  private

  def public_context(**settings) = Context.new(**Certificates.server.to_h, **settings)

  def admin_context
    Context.new(**Certificates.for("admin.test").to_h, ca_file: Certificates.authority, verify: true)
  end

  # @param context what each connection begins TLS with; the block gets the port
  # @param settings [Array<Hash>] of start_tls, of each connection in its turn; the last of them goes on
  def serve(context, settings = [{}])
    @refusals = []
    Pelton.run do
      listener = Pelton.listen("127.0.0.1", 0) do |stream|
        greet(
          stream.tap do
            stream.start_tls(context, server: true, **((settings.size > 1) ? settings.shift : settings.first))
          end
        )
      rescue ArgumentError, Pelton::Error => error
        @refusals << error
      ensure
        stream.abort
      end
      yield listener.port
    ensure
      listener.close
    end
  end

  def greet(stream)
    stream.write("#{stream.tls.resumed ? "resumed" : "new"}, #{stream.tls.verified ? "verified" : "unverified"}\n")
    stream.gets
  end

  # What the server has to say to a client of OpenSSL's own, and the ticket it gives.
  def ask(port, name, certificate: nil, version: nil, session: nil)
    context = OpenSSL::SSL::SSLContext.new
    context.max_version = version
    context.add_certificate(certificate.x509, certificate.private_key) if certificate
    context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT
    ticket = nil
    context.session_new_cb = ->((_, new_ticket)) { ticket = new_ticket }
    socket = tls_socket(port, name: name, session: session, context: context)
    answer = socket.gets or raise OpenSSL::SSL::SSLError, "the server has closed the connection"
    [answer.chomp, ticket]
  ensure
    socket&.close
  end
end
