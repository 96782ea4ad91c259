# frozen_string_literal: true

require_relative "../../support/http/http2_tunnel"
require "pelton/cable"

# WebSockets over HTTP/2 (RFC 8441).
class Http2WebSocketsTest < PeltonTest
  include Http2Tunnels

  F = Http2Peer
  WebSocket = Pelton::HTTP::WebSocket
  ENABLE_CONNECT_PROTOCOL = 8

  def settings_of(client) = client.receive_until(:settings).payload.unpack("nN" * 10).compact.each_slice(2).to_h

  # ---- the request ------------------------------------------------------------------------------------------------

  def test_the_server_offers_it
    sockets { |client| assert_equal 1, settings_of(client)[ENABLE_CONNECT_PROTOCOL] }
  end

  def test_a_server_that_does_not_offer_it_refuses_it_as_malformed
    sockets(http2_websockets: false) do |client|
      refute_includes settings_of(client), ENABLE_CONNECT_PROTOCOL
      assert_equal :protocol_error, Http2Tunnel.new(client).error
    end
  end

  def test_the_application_sees_http_1s_upgrade
    seen = nil
    app = lambda do |env|
      seen = env.slice("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "SERVER_PROTOCOL", "HTTP_HOST", "HTTP_UPGRADE",
        "HTTP_CONNECTION", "rack.protocol", "HTTP_ORIGIN")
      seen["input"] = env["rack.input"].read
      [403, {}, ["no"]]
    end
    sockets(app) do |client|
      refused = Http2Tunnel.new(client, "/chat?room=1", fields: {"origin" => "http://localhost"})

      assert_equal 403, refused.status
      assert_equal "no", refused.read
    end
    assert_equal(
      {"REQUEST_METHOD" => "GET", "PATH_INFO" => "/chat", "QUERY_STRING" => "room=1", "SERVER_PROTOCOL" => "HTTP/2",
       "HTTP_HOST" => "localhost", "HTTP_UPGRADE" => "websocket", "HTTP_CONNECTION" => "upgrade",
       "rack.protocol" => ["websocket"], "HTTP_ORIGIN" => "http://localhost", "input" => ""}, seen
    )
  end

  def test_an_env_that_rack_lint_accepts
    app = ->(env) { [200, {}, [env["rack.protocol"].inspect]] }
    serving(app) do
      assert_equal '["websocket"]', Http2Tunnel.new(http2, "/").read
    end
  end

  def test_another_protocol_gets_501
    sockets do |client|
      assert_equal 501, Http2Tunnel.new(client, fields: {":protocol" => "connect-udp"}).status
    end
  end

  def test_what_lacks_a_pseudo_header_is_malformed
    {scheme: nil, authority: nil, method: "GET"}.each do |name, value|
      sockets do |client|
        stream = client.request("/", **{:method => "CONNECT", name => value}, fields: Http2Tunnel::FIELDS, ended: false)

        assert_equal :protocol_error, client.response(stream).error, "without #{name}"
        assert_equal "/alive", client.get("/alive").body
      end
    end
  end

  def test_plain_connect_stays_a_request_of_the_application
    app = ->(env) { [200, {}, [env.values_at("REQUEST_METHOD", "PATH_INFO", "rack.protocol").inspect]] }
    serving(app, lint: false) do
      client = http2
      client.write(F.frame(:headers, 1, Hpack.block({":method" => "CONNECT", ":authority" => "h:1"}),
        flags: F::END_HEADERS | F::END_STREAM))

      assert_equal '["CONNECT", "h:1", nil]', client.response(1).body
    end
  end

  def test_versions_and_origins_are_checked_as_by_http_1
    sockets do |client|
      assert_equal 426, Http2Tunnel.new(client, fields: {"sec-websocket-version" => "12"}).status
      assert_equal 403, Http2Tunnel.new(client, fields: {"origin" => "http://elsewhere"}).status
    end
  end

  def test_as_many_fields_as_other_requests_may_have
    sockets(max_headers: 10) do |client|
      nine = (1..9).to_h { |number| ["x-#{number}", "1"] }

      assert_equal 200, Http2Tunnel.new(client, fields: nine).status
      assert_equal 431, Http2Tunnel.new(client, fields: {**nine, "x-10" => "1"}).status
    end
  end

  # ---- messages ---------------------------------------------------------------------------------------------------

  def test_messages_both_ways
    sockets do |client|
      socket = tunnel(client)
      ["hello", "ä", "", "x" * 50_000].each do |text|
        socket.write(frame(:text, text))

        assert_equal [:text, text.b], next_frame(socket)
      end
    end
  end

  def test_what_was_agreed_stands_in_the_response
    app = ->(env) { WebSocket.accept(env, protocols: %w[One]) { |socket| socket.write(socket.protocol) } }
    sockets(app) do |client|
      offers = {"sec-websocket-protocol" => "two, One", "sec-websocket-extensions" => "permessage-deflate"}
      socket = tunnel(client, fields: offers)

      assert_equal "One", socket.response.headers["sec-websocket-protocol"]
      assert_match(/\Apermessage-deflate/, socket.response.headers["sec-websocket-extensions"])
      assert_empty socket.response.headers.keys & %w[upgrade connection sec-websocket-accept content-length]
      assert_equal "One", next_frame(socket).last
    end
  end

  def test_compressed_messages
    sockets do |client|
      socket = tunnel(client, fields: {"sec-websocket-extensions" => "permessage-deflate"})
      deflated = Zlib::Deflate.new(9, -15).deflate("a" * 5000, Zlib::SYNC_FLUSH)[0...-4]
      socket.write(frame(:text, deflated, rsv1: true))

      assert_equal "a" * 5000, Zlib::Inflate.new(-15).inflate(next_frame(socket).last + "\x00\x00\xff\xff".b)
    end
  end

  def test_many_sockets_and_requests_share_a_connection
    sockets do |client|
      all = Array.new(5) { |number| tunnel(client, "/#{number}") }
      all.each_with_index { |socket, number| socket.write(frame(:text, "message #{number}")) }

      assert_equal "/between", client.get("/between").body
      assert_equal (0..4).map { |number| [:text, "message #{number}"] }, all.map { |socket| next_frame(socket) }
    end
  end

  def test_callback_style
    app = lambda do |env|
      WebSocket.accept(env) { |socket| socket.on_message { |message| socket.write(message.upcase) { nil } } }
    end
    sockets(app) do |client|
      socket = tunnel(client)
      3.times do |number|
        socket.write(frame(:text, "a#{number}"))

        assert_equal [:text, "A#{number}"], next_frame(socket)
      end
    end
  end

  def test_rooms
    room = WebSocket::Room.new
    sockets(->(env) { WebSocket.accept(env) { |socket| room.add(socket) && socket.on_message { nil } } }) do |client|
      all = Array.new(3) { tunnel(client) }
      eventually("members") { room.size == 3 }
      room.broadcast("for all")

      assert_equal [[:text, "for all"]] * 3, all.map { |socket| next_frame(socket) }
      all.each(&:close)
      eventually("nobody") { room.empty? }
    end
  end

  class NewsChannel < Pelton::Cable::Channel
    def subscribed = stream_from("news")
  end

  def test_a_cable
    cable = Pelton::Cable::Server.new(channels: [NewsChannel])
    sockets(cable) do |client|
      socket = tunnel(client, "/cable", fields: {"sec-websocket-protocol" => "actioncable-v1-json"})
      welcome = next_frame(socket).last
      socket.write(frame(:text,
        JSON.generate(command: "subscribe", identifier: '{"channel":"Http2WebSocketsTest::NewsChannel"}')))
      confirmation = next_frame(socket).last
      cable.broadcast("news", {"headline" => "none"})

      assert_equal '{"type":"welcome"}', welcome
      assert_equal "confirm_subscription", JSON.parse(confirmation)["type"]
      assert_equal({"headline" => "none"}, JSON.parse(next_frame(socket).last)["message"])
    end
  end

  def test_a_message_beyond_the_limit_closes_with_1009
    app = ->(env) do
      WebSocket.accept(env, max_message: 1000) { |socket| socket.each { |message| socket.write(message) } }
    end
    sockets(app) do |client|
      socket = tunnel(client)
      socket.write(frame(:text, "a" * 1001))

      assert_equal 1009, close_code_of(socket)
      assert_equal "/alive", client.get("/alive").body
    end
  end

  def test_max_body_is_of_bodies
    sockets(max_body: 100) do |client|
      socket = tunnel(client)
      socket.write(frame(:text, "a" * 5000))

      assert_equal [:text, "a" * 5000], next_frame(socket)
    end
  end

  def test_a_ping_is_answered
    sockets do |client|
      socket = tunnel(client)
      socket.write(frame(:ping, "there?"))

      assert_equal [:pong, "there?"], next_frame(socket)
    end
  end

  # ---- windows ----------------------------------------------------------------------------------------------------

  def test_a_large_message_goes_as_the_windows_open
    sockets(client: {4 => 1000}) do |client|
      socket = tunnel(client)
      message = Random.new(1).bytes(100_000)
      socket.write(frame(:binary, message))
      received = client.receive_until(:data, stream: socket.id).payload.bytesize
      client.open_window(0, 10 << 20).open_window(socket.id, 10 << 20)

      assert_equal 1000, received
      assert_equal message, next_frame(socket).last
    end
  end

  def test_a_reader_that_is_slow_holds_up_itself_alone
    sent = 0
    app = lambda do |env|
      WebSocket.accept(env) do |socket|
        40.times do
          socket.write("x" * 100_000)
          sent += 1
        end
      end
    end
    sockets(app, client: {4 => 1000}) do |client|
      client.open_window(0, 100 << 20)
      slow = tunnel(client)
      client.receive_until(:data, stream: slow.id)

      assert_equal "/quick", client.get("/quick").body
      held = sent
      client.open_window(slow.id, 10 << 20)
      40.times { assert_equal [:text, 100_000], next_frame(slow).then { |opcode, data| [opcode, data.bytesize] } }
      assert_equal 40, sent
      assert_operator held, :<, 40, "messages of 100 KB were all queued"
    end
  end

  def test_an_application_that_does_not_receive_holds_up_its_own_client_alone
    go_on = Queue.new
    app = lambda do |env|
      WebSocket.accept(env) do |socket|
        go_on.pop
        socket.write(socket.receive.bytesize.to_s)
      end
    end
    sockets(app, stream_window: 50_000) do |client|
      settings_of(client)
      socket = tunnel(client)
      socket.write(frame(:binary, "a" * 40_000))

      assert_equal "/meanwhile", client.get("/meanwhile").body
      go_on << true
      assert_equal [:text, "40000"], next_frame(socket)
    end
  end

  # ---- other ways to accept ---------------------------------------------------------------------------------------

  def test_rack_3s_way_to_accept
    body = lambda do |stream|
      stream.write(stream.gets.upcase)
      stream.close
    end
    [[200, {"rack.protocol" => "websocket"}, body], [101, {}, body]].each do |response|
      serving(->(_env) { response }, lint: false) do
        socket = tunnel(http2)
        socket.write("line\n")

        assert_equal "LINE\n", socket.read, "answered #{response.first}"
        assert_nil socket.response.headers["content-length"]
      end
    end
  end

  def test_programs_that_speak_http_1_by_themselves_get_clients_of_http_1
    sockets(->(env) { env["rack.hijack"].call }) do |client|
      assert_equal :http_1_1_required, Http2Tunnel.new(client).error
      assert_equal "/alive", client.get("/alive").body
    end
    assert_match(/http2_websockets/, reported.first.message)
  end

  def test_a_stream_without_a_descriptor_of_its_own
    streams = Queue.new
    serving(->(_env) { [200, {"rack.protocol" => "websocket"}, ->(stream) { streams << stream }] }, lint: false) do
      tunnel(http2)
      stream = streams.pop

      assert_equal "127.0.0.1", stream.remote_address.ip_address
      assert_raises(Pelton::Error) { stream.detach }
      stream.close
    end
  end

  def test_a_stream_that_is_half_closed_still_receives
    received = nil
    body = lambda do |stream|
      stream.close_write
      received = stream.read
      stream.close
    end
    serving(->(_env) { [200, {"rack.protocol" => "websocket"}, body] }, lint: false) do
      socket = tunnel(http2)

      assert_equal "", socket.read
      socket.write("after the end", ended: true)
      eventually("the rest") { received == "after the end" }
    end
  end
end
