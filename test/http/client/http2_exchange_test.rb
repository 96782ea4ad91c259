# frozen_string_literal: true

require "zlib"
require_relative "../../test_helper"
require_relative "../../support/call_styles"
require_relative "../../support/http/http2_script"
require "pelton/http"

# A request by HTTP/2 and its response, in each style. See also http2_connection_test.rb, and http2_peers_test.rb.
module Http2ExchangeSuite
  include Http2Scripts

  def test_the_request
    seen = nil
    client, server = answering { |peer, request| peer.respond((seen = request).stream) }
    inside { ask(client, :get, "/a?b=c", headers: {"X-One" => "1", "connection" => "close"}) }

    assert_equal [%w[:method GET], %w[:scheme http],
      [":authority", server.url.delete_prefix("http://")], %w[:path /a?b=c]],
      seen.fields.first(4)
    assert_equal "1", seen["x-one"]
    assert_nil seen["connection"]
    assert_nil seen["host"]
  end

  def test_the_response
    client, = answering do |peer, request|
      peer.respond(request.stream, "gone", [%w[set-cookie a=1], %w[set-cookie b=2]], status: 404)
    end
    response = inside { ask(client, :get, "/") }

    assert_equal 404, response.status
    assert_equal "", response.reason
    assert_equal %w[a=1 b=2], response.headers["set-cookie"]
    assert_equal "gone", response.body
  end

  def test_heads_alone
    client, = answering do |peer, request|
      peer.head(request.stream, {"content-length" => "9"}, ended: request.path == "/now")
      peer.data(request.stream, "") unless request.path == "/now"
    end
    inside do
      assert_equal "", ask(client, :head, "/now").body
      assert_equal "", ask(client, :head, "/later", max_body: 1).body
    end
  end

  # Of any size, and larger than the server's window.
  def test_bodies_of_requests
    client = client_of(script(settings: {4 => 20_000}) { |peer| serve_with_windows(peer) })
    body = Random.new(1).bytes(300_000)
    inside do
      assert_equal "300000 #{body.sum}", ask(client, :post, "/", body: body).body
      assert_equal "300000 #{body.sum}", ask(client, :post, "/", body: StringIO.new(body)).body
      assert_equal "- #{body.sum}", ask(client, :post, "/", body: body.scan(/.{1,7000}/mn).each).body
      assert_equal "0 0", ask(client, :post, "/").body
      assert_match(/\A\d+ \d+\z/, ask(client, :post, "/", multipart: {file: StringIO.new(body)}).body)
    end
  end

  def test_a_compressed_body
    client, = answering do |peer, request|
      peer.respond(request.stream, Zlib.gzip("hello" * 1000), {"content-encoding" => "gzip"})
    end

    assert_equal "hello" * 1000, inside { ask(client, :get, "/") }.body
  end

  def test_trailers_are_no_part_of_the_body
    client, = answering do |peer, request|
      peer.head(request.stream).data(request.stream, "body", ended: false)
      peer.frame(:headers, request.stream, Hpack.block([%w[x-sum 1]]), flags: 5)
    end

    assert_equal "body", inside { ask(client, :get, "/") }.body
  end

  def test_redirects
    client, server = answering do |peer, request|
      if request.path == "/old"
        peer.respond(request.stream, "", {"location" => "/new"}, status: 302)
      else
        peer.respond(request.stream, request.path)
      end
    end

    assert_equal "/new", inside { ask(client, :get, "/old") }.body
    assert_equal 1, server.connections
  end

  # Padding, and 1xx before the response.
  def test_what_else_may_come
    client, = answering do |peer, request|
      peer.head(request.stream, {"link" => "</a>"}, status: 103).head(request.stream)
      peer.frame(:data, request.stream, "\3abc\0\0\0", flags: 9)
      peer.frame(0x77, 0, "unknown").frame(:ping, 0, "12345678")
    end

    assert_equal "abc", inside { ask(client, :get, "/") }.body
  end

  def test_the_server_is_asked_before_a_large_body
    got = Queue.new
    server = script do |peer|
      request = peer.begun
      got << request["expect"]
      peer.head(request.stream, status: 100)
      peer.respond(request.stream, peer.request.body)
      peer.request
    end

    assert_equal "large", inside { ask(client_of(server), :post, "/", body: "large", expect: 1) }.body
    assert_equal "100-continue", got.pop
  end

  def test_a_server_that_does_not_want_the_body
    server = script do |peer|
      peer.respond(peer.begun.stream, "no", status: 403)
      peer.receive_until(:rst_stream).error
    end
    response = inside { ask(client_of(server), :post, "/", body: "large", expect: 1) }

    assert_equal 403, response.status
    assert_equal :cancel, server.results.pop
  end

  def test_a_server_that_ignores_the_question
    client, = answering { |peer, request| peer.respond(request.stream, request.body) }

    assert_equal "large", inside { ask(client, :post, "/", body: "large", expect: 1, expect_timeout: 0.01) }.body
  end

  def test_a_response_that_does_not_come_in_time
    server = script { |peer| peer.receive_until(:rst_stream).error }
    error = assert_raises(Pelton::TimeoutError) do
      inside { ask(client_of(server), :get, "/", response_timeout: 0.02) }
    end

    assert_match(/\AGET .*response_timeout/, error.message)
    assert_equal :cancel, server.results.pop
  end

  # The server opens no window.
  def test_a_body_that_the_server_does_not_take
    server = script(settings: {4 => 1000}) { |peer| peer.receive_until(:rst_stream).error }
    error = assert_raises(Pelton::TimeoutError) do
      inside { ask(client_of(server), :post, "/", body: "x" * 100_000, write_timeout: 0.02) }
    end

    assert_match(/write_timeout/, error.message)
    assert_equal :cancel, server.results.pop
  end

  private

  def serve_with_windows(peer)
    while (frame = peer.receive)
      peer.open_windows(frame.stream, frame.payload.bytesize) if frame.type == :data && !frame.payload.empty?
      next unless frame.end_stream?
      request = peer.request
      peer.respond(request.stream, "#{request["content-length"] || "-"} #{request.body.sum}")
    end
  end
end

class Http2ExchangeTest < PeltonTest
  include Http2ExchangeSuite
  include CallStyles::Direct

  def test_a_body_that_is_read_slowly_holds_up_its_own_stream
    client, = answering do |peer, request|
      next peer.respond(request.stream, "small") unless request.path == "/large"
      peer.head(request.stream)
      60.times { |number| peer.data(request.stream, "x" * 16_000, ended: number == 59) } # within the stream's window
    end
    Pelton.run do
      large = client.get("/large", stream: true)

      assert_equal "small", client.get("/small").body
      assert_equal 960_000, large.body.bytesize
    end
  end

  def test_a_response_that_is_closed_cancels_its_stream_alone
    server = script do |peer|
      first = peer.request.stream
      peer.head(first).data(first, "piece", ended: false)
      cancelled = peer.receive_until(:rst_stream)
      peer.respond(peer.request.stream, "next")
      peer.request
      [cancelled.stream == first, cancelled.error]
    end
    client = client_of(server)
    Pelton.run do
      client.get("/", stream: true).close

      assert_equal "next", client.get("/").body
      client.close
    end
    assert_equal [true, :cancel], server.results.pop
    assert_equal 1, server.connections
  end

  def test_events
    client, = answering do |peer, request|
      number = request["last-event-id"].to_i + 1
      peer.respond(request.stream, "id: #{number}\nretry: 100\ndata: #{number}\n\n",
        {"content-type" => "text/event-stream"})
    end
    seen = []
    Pelton.run { client.each_event("/") { |event| (seen << event.data).size == 3 and break } }

    assert_equal %w[1 2 3], seen
  end

  def test_a_task_that_is_cancelled_cancels_its_stream
    server = script do |peer|
      peer.request
      error = peer.receive_until(:rst_stream).error
      peer.respond(peer.request.stream, "next")
      peer.request
      error
    end
    client = client_of(server)
    Pelton.run do
      task = Pelton.spawn { client.get("/") }
      eventually { client.stats[:open] == 1 && server.connections == 1 }
      task.cancel

      assert_equal "next", client.get("/").body
      client.close
    end
    assert_equal :cancel, server.results.pop
  end

  def test_a_response_that_nobody_reads_is_given_back
    server = script do |peer|
      stream = peer.request.stream
      peer.head(stream).data(stream, "piece", ended: false)
      peer.receive_until(:rst_stream).error
    end
    client = client_of(server)
    Pelton.run do
      forget(client)
      eventually do
        GC.start
        server.results.size == 1
      end
    end
    assert_equal :cancel, server.results.pop
  end

  private

  def forget(client) = Fiber.new { client.get("/", stream: true) && nil }.resume
end

class BlockingHttp2ExchangeTest < PeltonTest
  include Http2ExchangeSuite
  include CallStyles::Blocking
end

class CallbackHttp2ExchangeTest < PeltonTest
  include Http2ExchangeSuite
  include CallStyles::Callback
end
