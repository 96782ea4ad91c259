# frozen_string_literal: true

require "openssl"
require "tmpdir"
require_relative "../support/certificates"
require_relative "../support/http/peer"

# A connection that TLS has made for one host, and requests for another.
class HTTPMisdirectionTest < PeltonTest
  include HttpPeer

  Context = Pelton::TLS::Context

  def test_a_request_for_a_host_that_demands_certificates
    serving_names({"admin.test" => admin}) do
      ["admin.test", "ADMIN.test", "admin.test.", "Admin.Test.:443", "admin.test:#{@port}",
        "admin.test:"].each do |host|
        assert_equal 421, status("public.test", host), host
        assert_equal 421, status(nil, host), "#{host} without SNI"
      end
      assert_equal 200, status("admin.test", "admin.test", certificate: Certificates.for("somebody"))
      assert_equal 200, status("ADMIN.test", "admin.TEST:#{@port}", certificate: Certificates.for("somebody"))
    end
    refute_includes @asked, "admin.test."
  end

  def test_the_target_names_the_host
    serving_names({"admin.test" => admin}) do
      assert_equal 421, say("public.test", "GET https://admin.test/ HTTP/1.1\nHost: public.test\n\n").status
      assert_equal 421, say("public.test", "GET https://Admin.test:#{@port} HTTP/1.1\nHost: public.test\n\n").status
      # RFC 9112, 3.2.2: Host is ignored
      assert_equal 200, say("public.test", "GET https://public.test/ HTTP/1.1\nHost: admin.test\n\n").status
      assert_equal 421, say("public.test", "OPTIONS * HTTP/1.1\nHost: admin.test\n\n").status
    end
  end

  def test_the_requests_of_one_connection
    serving_names({"admin.test" => admin, "other.test" => Context.new(**Certificates.for("other.test").to_h)}) do
      peer = tls("public.test")
      answers = %w[public.test admin.test public.test other.test other.test admin.test public.test].map do |host|
        peer.say("GET / HTTP/1.1\nHost: #{host}\n\n").response.status
      end

      assert_equal [200, 421, 200, 200, 200, 421, 200], answers
      peer.say("GET / HTTP/1.1\nHost: public.test\n\nGET / HTTP/1.1\nHost: admin.test\n\n")
      assert_equal 200, peer.response.status
      assert_equal 421, peer.response.status
    end
  end

  # Small ones, which are sent from memory, and others.
  def test_public_files
    Dir.mktmpdir do |folder|
      {"small" => "text", "large" => "x" * 100_000}.each { |name, text| File.write("#{folder}/#{name}", text) }
      serving_names({"admin.test" => admin}, public: folder) do
        peer = tls("public.test")
        answers = %w[/small /large].product(%w[admin.test public.test public.test]).map do |path, host|
          peer.say("GET #{path} HTTP/1.1\nHost: #{host}\n\n").response.then do |response|
            [response.status, response.body.size]
          end
        end

        assert_equal [421, 200, 200] * 2, answers.map(&:first)
        assert_equal [4, 4, 100_000, 100_000], answers.values_at(1, 2, 4, 5).map(&:last)
        assert_empty @asked
      end
    end
  end

  def test_a_name_that_tls_has_with_the_roots_dot
    serving_names({"admin.test" => admin}) do
      assert_equal 421, status("public.test.", "admin.test")
      assert_equal 200, status("public.test.", "public.test")
    end
  end

  # The listener's own demand holds for each host that has no context.
  def test_a_request_without_a_host
    relaxed = Context.new(**Certificates.for("open.test").to_h, verify: false)
    serving_names({"open.test" => relaxed}, ca_file: Certificates.authority, verify: true) do
      assert_equal 200, say("open.test", "GET / HTTP/1.0\nHost: open.test\n\n").status
      assert_equal 421, say("open.test", "GET / HTTP/1.0\n\n").status
      assert_equal 421, say("open.test", "GET / HTTP/1.1\nHost:\n\n").status
      assert_equal 421, status("open.test", "unknown.test")
      assert_equal 200, say(nil, "GET / HTTP/1.0\n\n", certificate: Certificates.for("somebody")).status
    end
  end

  # Who has shown a certificate may have what needs none.
  def test_hosts_that_demand_less_or_the_same
    settings = {ca_file: Certificates.authority, verify: true}
    names = {"admin.test" => admin, "twin.test" => Context.new(**Certificates.for("twin.test").to_h, **settings),
             "others.test" => Context.new(**Certificates.for("others.test").to_h,
               ca_file: Certificates.server.certificate, verify: true),
             "checked.test" => Context.new(**Certificates.for("checked.test").to_h, **settings,
               on_certificate: ->(one) { one.trusted? })}
    serving_names(names) do
      answers = %w[public.test twin.test others.test checked.test].map do |host|
        status("admin.test", host, certificate: Certificates.for("somebody"))
      end

      assert_equal [200, 200, 421, 421], answers
    end
  end

  def test_versions_ciphers_and_levels_protect_too
    names = {"modern.test" => {min_version: "TLSv1.3"}, "strong.test" => {ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384"},
             "level.test" => {security_level: 3},
             "old.test" => {min_version: "TLSv1", security_level: 0, ciphers: "ALL"}}
      .to_h { |name, settings| [name, Context.new(**Certificates.for(name).to_h, **settings)] }
    serving_names(names) do
      assert_equal([421, 421, 421, 200],
        names.keys.map { |host| status("public.test", host, version: "1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256") })
      assert_equal([200, 421, 200], %w[modern.test level.test old.test].map { |host| status("public.test", host) })
    end
  end

  def test_a_block_is_asked_for_the_host_and_may_wait
    seen = []
    contexts = {"admin.test" => admin, "refused.test" => false}
    choose = lambda do |name|
      sleep 0.001
      contexts[seen.push(name).last]
    end
    serving_names(choose) do
      assert_equal 421, status("public.test", "Admin.test")
      assert_equal 421, status("public.test", "refused.test")
      assert_equal 200, status(nil, "some.test")
      assert_equal 421, status("PUBLIC.test.", "ADMIN.test.")
    end
    assert_equal ["public.test", "admin.test", "public.test", "refused.test", nil, "some.test",
      "public.test", "admin.test"], seen
  end

  def test_a_block_that_fails
    serving_names(->(name) { (name == "bad.test") ? raise("no such tenant") : nil }) do
      assert_equal 500, status("public.test", "bad.test")
    end
    assert_equal ["no such tenant"], reported.map(&:message)
  end

  # The cache would answer before anything is asked.
  def test_what_is_kept_for_a_protected_host
    serving_names({"admin.test" => admin}, cache: 1 << 20) do
      2.times { assert_equal 200, status("admin.test", "admin.test", certificate: Certificates.for("somebody")) }
      assert_equal 421, status("public.test", "admin.test")
      assert_equal 200, status("public.test", "public.test")
      assert_equal 200, status(nil, "public.test")
      assert_equal 1, server.stats[:cache_hits]
    end
    assert_equal %w[admin.test public.test public.test], @asked
  end

  def test_without_other_contexts_any_host_is_served
    serving_names(nil) { assert_equal 200, status("public.test", "admin.test") }
  end

  private

  def admin
    @admin ||= Context.new(**Certificates.for("admin.test").to_h, ca_file: Certificates.authority, verify: true)
  end

  def serving_names(sni, cache: nil, public: nil, **settings)
    @asked = []
    app = lambda do |env|
      @asked << env["HTTP_HOST"]
      [200, {"content-type" => "text/plain", "cache-control" => "public, max-age=60"}, ["hello"]]
    end
    context = Context.new(**Certificates.for("public.test").to_h, sni: sni, **settings)
    Pelton.run do
      @server = Pelton::HTTP::Server.new(app, cache: cache, public: public)
      @port = @server.listen("ssl://127.0.0.1:0", tls: context).port
      @peers = []
      yield
    ensure
      @peers.each(&:close)
      @server.stop(timeout: 10)
    end
  end

  def status(name, host, **settings) = say(name, "GET / HTTP/1.1\nHost: #{host}\n\n", **settings).status

  def say(name, text, **settings) = tls(name, **settings).say(text).response

  def tls(name, certificate: nil, version: nil, ciphers: nil)
    context = OpenSSL::SSL::SSLContext.new
    context.max_version = OpenSSL::SSL::TLS1_2_VERSION if version == "1.2"
    context.ciphers = ciphers if ciphers
    context.add_certificate(certificate.x509, certificate.private_key) if certificate
    secure_peer(name: name, context: context)
  end
end
