# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/certificates"
require_relative "../../support/http/scripts"
require_relative "../../support/http/servers"
require_relative "../../support/websocket_peer"
require "pelton/http"

class WebSocketHandshakeTest < PeltonTest
  include HTTPScripts
  include HttpServers

  WebSocket = Pelton::HTTP::WebSocket
  ENVIRONMENT = {
    "REQUEST_METHOD" => "GET", "HTTP_HOST" => "example.com:81", "HTTP_CONNECTION" => "keep-alive, Upgrade",
    "HTTP_UPGRADE" => "WebSocket",
    "HTTP_SEC_WEBSOCKET_VERSION" => "13", "HTTP_SEC_WEBSOCKET_KEY" => "dGhlIHNhbXBsZSBub25jZQ=="
  }.freeze

  def test_what_is_no_websocket_request
    assert WebSocket.request?(ENVIRONMENT)
    {
      {"REQUEST_METHOD" => "POST"} => 426, {"HTTP_UPGRADE" => nil} => 426, {"HTTP_CONNECTION" => "close"} => 426,
      {"HTTP_SEC_WEBSOCKET_VERSION" => "8"} => 426,
      {"HTTP_SEC_WEBSOCKET_KEY" => nil} => 400, {"HTTP_SEC_WEBSOCKET_KEY" => "short"} => 400,
      {"HTTP_SEC_WEBSOCKET_VERSION" => nil} => 426, {"HTTP_SEC_WEBSOCKET_VERSION" => "13, 13"} => 426,
      {"SERVER_PROTOCOL" => "HTTP/1.0"} => 400
    }.each do |change, status|
      assert_equal status, WebSocket.accept(ENVIRONMENT.merge(change)) { flunk }.first, change.inspect
    end
    assert_equal "13",
      WebSocket.accept(ENVIRONMENT.merge("HTTP_SEC_WEBSOCKET_VERSION" => "8")) {}[1]["sec-websocket-version"]
  end

  def test_pages_of_other_origins_may_not_connect
    refused = {
      :same => ["http://evil.test", "http://example.com", "http://example.com:81.evil.test", "null"],
      ["https://a.test"] => ["https://b.test", "http://a.test", "http://example.com:81"]
    }
    refused.each do |origins, all|
      all.each do |origin|
        assert_equal 403,
          WebSocket.accept(ENVIRONMENT.merge("HTTP_ORIGIN" => origin), origins: origins) { flunk }.first, origin
      end
    end
    secure = ENVIRONMENT.merge("rack.url_scheme" => "https")

    assert_equal 403, WebSocket.accept(secure.merge("HTTP_ORIGIN" => "http://example.com:81")) { flunk }.first
    assert_raises(Pelton::Error) { WebSocket.accept(secure.merge("HTTP_ORIGIN" => "https://example.com:81")) { flunk } }
    # What may connect comes as far as the server's stream.
    [[:same, "http://EXAMPLE.com:81"], [:same, nil], [:any, "http://evil.test"],
      [["https://a.test"], "https://a.test"]].each do |origins, origin|
      assert_raises(Pelton::Error) do
        WebSocket.accept(ENVIRONMENT.merge("HTTP_ORIGIN" => origin), origins: origins) { flunk }
      end
    end
  end

  # The client is told, and nobody else: else each of them would be an error in the server's log.
  def test_extensions_that_are_malformed
    malformed = ["a; b=\"\\", "a; b=\"#{"\\c" * 20_000}", ";;;", "#{"a," * 5000};",
      "permessage-deflate; x=#{"y" * 20_000}\"", "permessage-deflate; =1"]
    app = ->(env) { WebSocket.accept(env, deflate: true) { flunk } }
    reported = errors_reported do
      with_server(app) do |url|
        malformed.each do |extensions|
          assert_match(/\AHTTP\/1.1 400 /, raw(url, "Sec-WebSocket-Extensions: #{extensions}\r\n"), extensions[0, 100])
        end
      end
    end

    assert_empty reported
  end

  # Offers that are not understood are declined.
  def test_extensions_that_nobody_knows
    app = ->(env) { WebSocket.accept(env, deflate: true) { |socket| socket.close } }
    with_server(app) do |url|
      ["x-unknown", "permessage-deflate; server_max_window_bits=99", "permessage-deflate; client_max_window_bits=x",
        "permessage-deflate; unknown=1"].each do |extensions|
        answer = raw(url, "Sec-WebSocket-Extensions: #{extensions}\r\n")

        assert_match(/\AHTTP\/1.1 101 /, answer, extensions)
        refute_match(/sec-websocket-extensions/i, answer)
      end
    end
  end

  # Its bytes would be taken for frames.
  def test_requests_with_a_body
    with_server(->(env) { WebSocket.accept(env) { flunk } }) do |url|
      ["Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"].each do |header|
        assert_match(/\AHTTP\/1.1 400 /, raw(url, header), header)
      end
    end
  end

  def test_hosts_that_are_malformed
    with_server(->(env) { WebSocket.accept(env) { flunk } }) do |url|
      ["[", "a b", "h:x", "h:99999999", "\xff", "h\0"].each do |host|
        assert_match(/\AHTTP\/1.1 400 /, raw(url, host: host), host.inspect)
      end
    end
  end

  def test_subprotocols
    app = ->(env) { WebSocket.accept(env, protocols: %w[b c]) { |socket| socket.write(socket.protocol.to_s) } }
    with_server(app) do |url|
      assert_equal "c",
        WebSocket.connect(url, protocols: %w[a c]).tap { |socket| assert_equal "c", socket.protocol }.receive
      assert_equal "", WebSocket.connect(url, protocols: %w[a]).receive
    end
  end

  def test_by_way_of_a_proxy
    app = ->(env) { WebSocket.accept(env) { |socket| socket.write(env["rack.url_scheme"]) } }
    server = Pelton::HTTP::Server.new(app)
    Pelton.run do
      plain = server.listen("tcp://127.0.0.1:0").port
      sealed = server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port
      proxy = script { |request, socket| HTTPScript.tunnel(socket, request.path[/\d+\z/].to_i) }
      way = {proxy: "http://u:p@127.0.0.1:#{proxy.port}"}

      assert_equal "http", WebSocket.connect("ws://localhost:#{plain}/", **way).receive
      assert_equal "https",
        WebSocket.connect("wss://localhost:#{sealed}/", tls: {ca_file: Certificates.authority}, **way).receive
      assert_raises(Pelton::VerificationError) { WebSocket.connect("wss://localhost:#{sealed}/", **way) }
      seen = proxy.seen
      assert_equal [plain, sealed, sealed].map { |port| "CONNECT localhost:#{port} HTTP/1.1" }, seen.map(&:line)
      assert_equal "Basic #{["u:p"].pack("m0")}", seen.first.headers["proxy-authorization"]
    ensure
      Pelton.stop
    end
  end

  def test_headers_and_credentials_are_sent
    seen = nil
    with_server(->(env) { (seen = env) && [403, {}, []] }) do |url|
      error = assert_raises(WebSocket::HandshakeError) do
        WebSocket.connect(url.sub("//", "//me:secret@") + "path?q=1", headers: {"X-Mine" => "yes"})
      end

      assert_match(/403/, error.message)
      assert_equal ["/path", "q=1", "yes", "Basic #{["me:secret"].pack("m0")}"],
        seen.values_at("PATH_INFO", "QUERY_STRING", "HTTP_X_MINE", "HTTP_AUTHORIZATION")
    end
  end

  def test_what_cannot_be_sent
    assert_raises(ArgumentError) { WebSocket.connect("http://x/") }
    assert_raises(ArgumentError) { WebSocket.connect("ws://x/", headers: {"x" => "a\r\nb"}) }
    assert_raises(ArgumentError) { WebSocket.connect("ws://") }
  end

  def test_servers_that_do_not_agree
    [
      ok, "nonsense\r\n\r\n",
      "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n"
    ].each do |answer|
      server = script { answer }
      Pelton.run do
        assert_raises(WebSocket::HandshakeError, answer) { WebSocket.connect("ws://127.0.0.1:#{server.port}") }
      end
    end
  end

  def test_a_server_whose_headers_do_not_end
    server = script { "HTTP/1.1 101 OK\r\n#{"A: b\r\n" * 10_000}" }
    Pelton.run do
      assert_match(/longer than/,
        assert_raises(WebSocket::HandshakeError) { WebSocket.connect("ws://127.0.0.1:#{server.port}") }.message)
    end
  end

  def test_a_server_that_says_nothing_or_closes
    server = script { |request, _| (request.path == "/close") ? :close : nil }
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { WebSocket.connect("ws://127.0.0.1:#{server.port}", timeout: 0.05) }
      assert_raises(WebSocket::HandshakeError) { WebSocket.connect("ws://127.0.0.1:#{server.port}/close") }
    end
  end

  def test_a_handler_that_has_callbacks_may_end
    app = ->(env) { WebSocket.accept(env) { |socket| socket.on_message { |message| socket.write(message.upcase) } } }
    with_server(app) do |url|
      socket = WebSocket.connect(url)
      socket.write("a")

      assert_equal "A", socket.receive
    end
  end

  private

  # All that the server sends.
  def raw(url, headers = "", host: "h")
    uri = URI(url)
    stream = Pelton.connect(uri.host, uri.port)
    stream.write(WebSocketPeer.handshake(headers, host: host).b)
    stream.close_write
    stream.read
  end

  def with_server(app)
    serving_here(app) { |port| yield "ws://127.0.0.1:#{port}/" }
  end
end
