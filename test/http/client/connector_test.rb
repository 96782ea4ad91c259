# frozen_string_literal: true

require "tmpdir"
require_relative "../../test_helper"
require_relative "../../support/temporary_folder"
require_relative "../../support/certificates"
require_relative "../../support/http/scripts"
require "pelton/http"

class ClientConnectorTest < PeltonTest
  include TemporaryFolder
  include HTTPScripts

  def test_http_by_way_of_a_proxy
    proxy = script { |request, _| ok(request.path) }
    client = Pelton::HTTP::Client.new("http://example.test:81", proxy: "http://me:se%40cret@localhost:#{proxy.port}")

    assert_equal "http://example.test:81/a", client.get("/a").body
    assert_equal "Basic #{["me:se@cret"].pack("m0")}", proxy.seen.last.headers["proxy-authorization"]
  end

  def test_addresses_that_are_not_allowed
    server = script { ok("inside") }
    url = "http://localhost:#{server.port}/"
    error = assert_raises(Pelton::HTTP::AddressError) { Pelton::HTTP::Client.new(allow: :public, proxy: nil).get(url) }

    assert_match(/localhost is .*(127.0.0.1|::1), which/, error.message)
    assert_empty server.seen
    listener = TCPServer.new("127.0.0.1", 0)
    assert_raises(Pelton::HTTP::AddressError) do
      Pelton::HTTP::Client.new(allow: :public, proxy: nil).get("http://127.0.0.1:#{listener.addr[1]}/")
    end
    assert_equal :wait_readable, listener.accept_nonblock(exception: false), "no connection was made"
    asked = []
    allowed = Pelton::HTTP::Client.new(proxy: nil, allow: ->(address) { asked << address })

    assert_equal "inside", allowed.get(url).body
    assert_equal true, asked.first.loopback?
    assert_raises(ArgumentError) { Pelton::HTTP::Client.new(allow: :public, proxy: "http://localhost:1").get(url) }
  end

  # Its certificate is looked at as a server's is. TLS inside of its TLS is not there.
  def test_a_proxy_that_speaks_tls
    context = OpenSSL::SSL::SSLContext.new.tap do |one|
      one.add_certificate(Certificates.server.x509, Certificates.server.private_key)
    end
    proxy = script(context) { |request, _| ok(request.path) }
    client = Pelton::HTTP::Client.new(proxy: proxy.url, tls: {ca_file: Certificates.authority})

    assert_equal "http://example.test/a", client.get("http://example.test/a").body
    assert_raises(Pelton::VerificationError) { Pelton::HTTP::Client.new(proxy: proxy.url).get("http://example.test/a") }
    assert_match(/needs an http:/, assert_raises(ArgumentError) { client.get("https://example.test/") }.message)
  end

  # The proxy carries bytes, and sees nothing of what is in them.
  def test_https_by_way_of_a_proxy
    context = OpenSSL::SSL::SSLContext.new.tap do |one|
      one.add_certificate(Certificates.server.x509, Certificates.server.private_key)
    end
    server = script(context) { ok("secret") }
    proxy = script { |_, socket| HTTPScript.tunnel(socket, server.port) }
    client = Pelton::HTTP::Client.new(server.url, proxy: "http://u:p@localhost:#{proxy.port}",
      tls: {ca_file: Certificates.authority})
    Pelton.run { 2.times { assert_equal "secret", client.get("/").body } }
    seen = proxy.seen

    assert_equal ["CONNECT localhost:#{server.port} HTTP/1.1"], seen.map(&:line)
    assert_equal "Basic #{["u:p"].pack("m0")}", seen.first.headers["proxy-authorization"]
    assert_nil server.seen.first.headers["proxy-authorization"]
  end

  def test_a_proxy_that_refuses
    proxy = script { "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n" }
    client = Pelton::HTTP::Client.new("https://example.test", proxy: "http://localhost:#{proxy.port}")
    error = assert_raises(Pelton::ConnectionError) { client.get("/") }

    assert_match(/407/, error.message)
  end

  def test_the_environments_proxy
    proxy = script { |request, _| ok(request.path) }
    assert_equal "http://example.test/a\ndirect\n",
      ruby_output(<<~RUBY, env: {"http_proxy" => "http://localhost:#{proxy.port}", "no_proxy" => "direct.test"})
        require "pelton/http"
        puts Pelton::HTTP.get("http://example.test/a").body
        begin
          Pelton::HTTP.get("http://direct.test/")
        rescue Pelton::ResolutionError
          puts "direct"
        end
      RUBY
  end

  # Other programs take these, too.
  def test_a_proxy_without_its_scheme
    proxy = script { ok("ok") }
    asked = ["http://example.test/", {proxy: "localhost:#{proxy.port}"}]
    assert_equal "ok", Pelton::HTTP::Client.new(asked[0], **asked[1]).get("/").body
    output = ruby_output('require "pelton/http"; puts Pelton::HTTP.get("http://example.test/").body',
      env: {"http_proxy" => "localhost:#{proxy.port}"})

    assert_equal "ok\n", output
  end

  def test_a_proxy_of_another_kind
    assert_match(/proxy.*socks5/,
      assert_raises(ArgumentError) { Pelton::HTTP::Client.new(proxy: "socks5://localhost") }.message)
    assert_match(/\AArgumentError: .*proxy.*socks5/, ruby_output(<<~RUBY, env: {"http_proxy" => "socks5://localhost"}))
      require "pelton/http"
      Pelton::HTTP.get("http://example.test/") rescue puts "\#{$!.class}: \#{$!.message}"
    RUBY
  end

  def test_a_proxy_that_cannot_be_reached
    client = Pelton::HTTP::Client.new("http://example.test/", proxy: "localhost:#{free_port}")

    assert_match(%r{\AGET http://example.test/: the proxy: },
      assert_raises(Pelton::ConnectionError) { client.get("/") }.message)
  end

  def test_a_unix_socket
    Pelton.run do
      listener = Pelton.listen_unix("#{@folder}/socket") do |stream|
        nil until stream.gets == "\r\n"
        stream.write(ok("ok"))
      end

      assert_equal "ok", Pelton::HTTP::Client.new("http://localhost", unix: "#{@folder}/socket").get("/").body
      listener.close
    end
  end
end
