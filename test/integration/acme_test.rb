# frozen_string_literal: true

require "openssl"
require "tmpdir"
require_relative "../test_helper"
require_relative "../support/acme_authority"
require_relative "../support/running_program"
require_relative "../support/sockets"
require "pelton/http"
require "pelton/http/acme"

# `pelton serve --acme` with a real authority.
class AcmeTest < PeltonTest
  include RunningPrograms
  include Sockets

  self.deadline = 120

  NAMES = %w[one.example two.example].freeze

  def setup
    skip "the package pebble is missing" unless AcmeAuthority.installed?
    @folder = Dir.mktmpdir
    @http, @https = Array.new(2) { free_port }
  end

  def teardown
    @server&.stop
    @authority&.stop
    FileUtils.rm_rf(@folder) if @folder
  end

  def test_the_first_certificate
    [0, 2].each do |workers|
      authority
      serve(workers: workers)
      certificate = eventually_certified

      assert_equal NAMES, names_of(certificate).sort, "#{workers} workers"
      assert_match(/new certificate for one\.example, two\.example, until 20/, log)
      assert_equal 1, log.scan("new certificate for").size, "one process for all"
      assert_equal [0o600], Dir["#{@folder}/certificates/*.pem"].map { |path| File.stat(path).mode & 0o777 }.uniq
      stop_serving
      FileUtils.rm_rf("#{@folder}/certificates")
    end
  end

  # Where the server has no address for HTTP, the authority asks by TLS.
  def test_the_first_certificate_without_http
    [0, 2].each do |workers|
      authority
      serve(workers: workers, plain: false)

      assert_equal NAMES, names_of(eventually_certified).sort, "#{workers} workers"
      assert_empty Dir.children("#{@folder}/certificates/challenges")
      assert_equal "hello", hello
      stop_serving
      FileUtils.rm_rf("#{@folder}/certificates")
    end
  end

  # Where the authority cannot ask by HTTP, the second attempt is by TLS.
  def test_a_port_for_http_that_is_closed
    @authority = AcmeAuthority.new(NAMES, free_port, @https)
    folder = Pelton::HTTP::Acme::Folder.new("#{@folder}/certificates", NAMES).prepare
    Pelton::HTTP::Acme::Order.prepare
    order = Pelton::HTTP::Acme::Order.new(folder, directory: authority.directory)
    Pelton.run do
      tls = {certificate: folder.certificate_path, handshake_only: Pelton::HTTP::Acme::TLSChallenges.contexts(folder)}
      listener = Pelton.listen("127.0.0.1", @https, tls: Pelton::TLS::Context.new(**tls), &:close)
      trusting_the_authority do
        error = assert_raises(Pelton::HTTP::Acme::Refused) { order.certificate }

        assert_match(%r{The authority asks at http://(?:one|two)\.example:80/}, error.message)
        assert_equal NAMES, names_of(OpenSSL::X509::Certificate.new(order.certificate.first)).sort
      end
    ensure
      listener.close
    end
  end

  def test_requests_without_tls_are_redirected
    authority
    serve
    eventually_certified
    response = answer_from(@http, "GET /a HTTP/1.1\r\nHost: one.example\r\nConnection: close\r\n\r\n")

    assert_match %r{\AHTTP/1\.1 301 }, response
    assert_includes response, "location: https://one.example/a\r\n"
  end

  def test_a_certificate_is_renewed_under_load
    authority
    FileUtils.mkdir_p("#{@folder}/certificates")
    old = Certificates.for(*NAMES, valid: -3600..600)
    File.write("#{@folder}/certificates/certificate.pem", old.certificate + old.key)
    served = failed = 0
    serve
    load = Thread.new do
      until @renewed
        begin
          served += 1 if hello == "hello"
        rescue SystemCallError, OpenSSL::SSL::SSLError, EOFError
          failed += 1
        end
      end
    end
    eventually_certified
    @renewed = true
    load.join

    assert_equal 0, failed
    assert_operator served, :>, 0
  end

  # The server serves on.
  def test_an_authority_that_is_away
    serve(directory: "https://127.0.0.1:1/dir")
    sleep 0.05 until log.include?("no certificate for")

    assert_match(/no certificate for one\.example, two\.example: .*cannot be reached.*; the self-signed one is served, next attempt in 60 s/,
      log)
    assert_equal "hello", hello
  end

  def test_a_name_that_leads_elsewhere
    @authority = AcmeAuthority.new(["one.example"], @http, @https)
    serve
    sleep 0.05 until log.include?("no certificate for")

    assert_match(/two\.example: .*\. The authority asks at http:\/\/two\.example:80.*so this name must lead to this server, and port 80 be open/,
      log)
    assert_equal "hello", hello
  end

  private

  def authority = @authority ||= AcmeAuthority.new(NAMES, @http, @https)

  def trusting_the_authority
    before, ENV["SSL_CERT_FILE"] = ENV["SSL_CERT_FILE"], authority.trusted
    yield
  ensure
    ENV["SSL_CERT_FILE"] = before
  end

  def serve(workers: 0, directory: authority.directory, plain: true)
    File.write("#{@folder}/config.ru", 'run ->(_env) { [200, {"content-type" => "text/plain"}, ["hello"]] }')
    File.write("#{@folder}/pelton.rb", <<~RUBY)
      acme "#{NAMES.join(", ")}"
      acme_directory "#{directory}"
      acme_folder "#{@folder}/certificates"
      https_only true
      bind "ssl://127.0.0.1:#{@https}"
      #{%(bind "tcp://127.0.0.1:#{@http}") if plain}
      workers #{workers}
    RUBY
    @server = start_program(*PELTON, "serve", "-C", "pelton.rb", "config.ru", folder: @folder,
      env: {"SSL_CERT_FILE" => @authority&.trusted})
    await_program(@server) { listens?(@https) }
  end

  def stop_serving
    @server.stop
    FileUtils.rm("#{@folder}/log") # to which the next one would append
  end

  def log = @server.output

  # The certificate that is served, once it is the authority's.
  def eventually_certified
    loop do
      certificate = connect(&:peer_cert)
      return certificate if certificate.issuer.to_s.include?("Pebble")
      sleep 0.05
    end
  end

  def hello
    connect do |tls|
      tls.write("GET / HTTP/1.1\r\nHost: one.example\r\nConnection: close\r\n\r\n")
      tls.read.split("\r\n\r\n").last
    end
  end

  def connect
    yield tls = tls_socket(@https, name: "one.example")
  ensure
    tls&.close
  end

  def names_of(certificate)
    certificate.extensions.find { |one| one.oid == "subjectAltName" }.value.scan(/DNS:([^,\s]+)/).flatten
  end
end
