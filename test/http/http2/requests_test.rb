# frozen_string_literal: true

require_relative "../../support/http/http2_peer"

# What an application sees of HTTP/2, and what its client gets.
class Http2RequestsTest < PeltonTest
  include Http2Peers

  def test_the_env
    env = nil
    serving(->(given) { env = given and HELLO.call(given) }) do
      http2.get("/a/b?c=d", fields: {"x-one" => "1", "cookie" => "a=b"})
    end

    assert_equal "HTTP/2", env["SERVER_PROTOCOL"]
    assert_equal "GET", env["REQUEST_METHOD"]
    assert_equal "/a/b", env["PATH_INFO"]
    assert_equal "c=d", env["QUERY_STRING"]
    assert_equal "localhost", env["HTTP_HOST"]
    assert_equal "http", env["rack.url_scheme"]
    assert_equal "1", env["HTTP_X_ONE"]
    assert_equal "127.0.0.1", env["REMOTE_ADDR"]
  end

  def test_the_connection_is_not_handed_over
    env = nil
    serving(->(given) { env = given and HELLO.call(given) }) { http2.get }

    refute env["rack.hijack?"]
    refute env.key?("rack.hijack")
  end

  def test_crumbs_of_a_cookie_are_joined
    serving(->(env) { [200, {}, [env["HTTP_COOKIE"]]] }) do
      assert_equal "a=1; b=2", http2.get("/", fields: [%w[cookie a=1], %w[cookie b=2]]).body
    end
  end

  def test_the_response
    serving(->(_env) { [201, {"x-one" => "1", "set-cookie" => %w[a=1 b=2]}, %w[hel lo]] }) do
      response = http2.get

      assert_equal 201, response.status
      assert_equal "hello", response.body
      assert_equal "1", response.headers["x-one"]
      assert_equal "5", response.headers["content-length"]
      assert_match(/GMT\z/, response.headers["date"])
    end
  end

  def test_fields_of_a_connection_are_left_out
    serving(->(_env) { [200, {"connection" => "close", "keep-alive" => "5", "Upgrade" => "x"}, ["a"]] }, lint: false) do
      headers = http2.get.headers

      assert_empty headers.keys & %w[connection keep-alive upgrade Upgrade]
    end
  end

  def test_names_are_sent_in_lower_case
    serving(->(_env) { [200, {"X-One" => "1"}, ["a"]] }, lint: false) { assert_equal "1", http2.get.headers["x-one"] }
  end

  def test_a_response_without_a_body
    serving(->(_env) { [204, {}, []] }) do
      client = http2
      client.request

      assert_predicate client.receive_until(:headers), :end_stream?
    end
  end

  def test_head
    serving(HELLO) do
      client = http2
      response = client.get("/", method: "HEAD")

      assert_equal "", response.body
      assert_equal "5", response.headers["content-length"]
    end
  end

  def test_a_body_in_many_frames
    serving(->(env) { [200, {}, [env["rack.input"].read]] }) do
      client = http2
      stream = client.request("/", method: "POST", body: nil, ended: false)
      %w[a bc def].each { |part| client.frame(:data, stream, part) }
      client.frame(:data, stream, "", flags: Http2Peer::END_STREAM)

      assert_equal "abcdef", client.response(stream).body
    end
  end

  def test_trailers_of_a_request
    trailers = nil
    serving(->(env) { env["rack.input"].read && (trailers = env["pelton.trailers"]) && HELLO.call(env) }) do
      client = http2
      stream = client.request("/", method: "POST", ended: false)
      client.frame(:data, stream, "body")
      client.frame(:headers, stream, Hpack.block("x-sum" => "12"),
        flags: Http2Peer::END_HEADERS | Http2Peer::END_STREAM)

      assert_equal 200, client.response(stream).status
    end
    assert_equal({"x-sum" => "12"}, trailers)
  end

  def test_trailers_of_a_response
    body = lambda do |stream|
      stream.write("a")
      stream.finish("x-sum" => "1")
    end
    serving(->(_env) { [200, {}, body] }, lint: false) do
      response = http2.get

      assert_equal "a", response.body
      assert_equal({"x-sum" => "1"}, response.trailers)
    end
  end

  def test_early_hints
    app = lambda do |env|
      env["rack.early_hints"].call("link" => "</a.css>; rel=preload")
      HELLO.call(env)
    end
    serving(app, early_hints: true) do
      response = http2.get

      assert_equal [{":status" => "103", "link" => "</a.css>; rel=preload"}], response.hints
      assert_equal "hello", response.body
    end
  end

  def test_continue
    serving(->(env) { [200, {}, [env["rack.input"].read]] }) do
      client = http2
      stream = client.request("/", method: "POST", fields: {"expect" => "100-continue"}, ended: false)

      assert_equal :headers, client.receive_until(:headers).type
      client.frame(:data, stream, "now", flags: Http2Peer::END_STREAM)
      response = client.response(stream)

      assert_equal [{":status" => "100"}], response.hints
      assert_equal "now", response.body
    end
  end

  def test_a_partial_hijack_gets_the_stream_of_a_body
    hijacker = lambda do |stream|
      stream.write("hijacked")
      stream.close
    end
    serving(->(_env) { [200, {"rack.hijack" => hijacker}, []] }, lint: false) do
      assert_equal "hijacked", http2.get.body
    end
  end

  def test_requests_of_one_connection_do_not_wait_for_each_other
    free = Queue.new
    app = lambda do |env|
      free.pop if env["PATH_INFO"] == "/slow"
      [200, {}, [env["PATH_INFO"]]]
    end
    serving(app) do
      client = http2
      slow = client.request("/slow")

      assert_equal "/quick", client.get("/quick").body
      free << true

      assert_equal "/slow", client.response(slow).body
    end
  end

  def test_an_error_of_the_application
    serving(->(_env) { raise "the application's own" }) do
      client = http2

      assert_equal 500, client.get.status
      assert_equal 500, client.get.status
    end
    assert_equal ["the application's own"] * 2, reported.map(&:message)
  end

  def test_an_error_within_the_body_resets_the_stream_alone
    body = Enumerator.new do |parts|
      parts << "a"
      raise "within the body"
    end
    serving(->(env) { (env["PATH_INFO"] == "/") ? [200, {}, ["fine"]] : [200, {}, body] }, lint: false) do
      client = http2

      assert_equal :internal_error, client.get("/broken").error
      assert_equal "fine", client.get.body
    end
    assert_equal ["within the body"], reported.map(&:message)
  end

  def test_transfer_encoding_of_the_application_is_refused
    serving(->(_env) { [200, {"transfer-encoding" => "chunked"}, ["1\r\na\r\n0\r\n\r\n"]] }, lint: false) do
      assert_equal 500, http2.get.status
    end
    assert_match(/HTTP\/2 has no transfer-encoding/, reported.first.message)
  end

  def test_http_1_1_on_the_same_port
    serving(HELLO) do
      assert_equal "hello", http2.get.body
      assert_equal "hello", peer.get("/").body
    end
  end

  def test_the_preface_in_every_two_pieces
    bytes = Http2Peer::PREFACE + Http2Peer.settings + Http2Peer.request(1)
    serving(HELLO) do
      (1...bytes.bytesize).each do |at|
        client = http2(settings: nil)
        client.write(bytes.byteslice(0, at))
        client.io.flush
        sleep 0 # the server receives the first piece alone
        client.write(bytes.byteslice(at..))

        assert_equal "hello", client.response(1).body, "split at #{at}"
        client.close
      end
    end
  end

  def test_http_2_can_be_left_out
    serving(HELLO, max_streams: 0) do
      assert_match(/\AHTTP\/1.1 505 /, answer(Http2Peer::PREFACE + Http2Peer.settings))
    end
  end

  def test_the_cache_answers_both_protocols
    count = 0
    app = lambda do |_env|
      count += 1
      [200, {"cache-control" => "public, max-age=60", "content-type" => "text/plain"}, ["x" * 20_000]]
    end
    serving(app, cache: 1_000_000) do
      client = http2

      assert_equal 20_000, client.get.body.bytesize
      assert_equal 20_000, client.get.body.bytesize
      assert_equal 20_000, peer.get("/").body.bytesize
    end
    assert_equal 1, count
  end

  # Streams of one connection, another connection, and one of HTTP/1.1.
  def test_requests_that_miss_the_cache_at_once_run_the_application_once
    count = 0
    gate = Thread::Queue.new
    app = lambda do |_env|
      count += 1
      gate.pop
      [200, {"cache-control" => "public, max-age=60", "content-type" => "text/plain"}, ["x" * 20_000]]
    end
    serving(app, cache: 1_000_000) do
      client, other, old = http2, http2, peer
      streams = Array.new(3) { client.request }
      eventually { @server.stats[:cache_waits] == 2 }
      last = other.request
      old.say("GET / HTTP/1.1\nHost: localhost\n\n")
      eventually { @server.stats[:cache_waits] == 4 }
      client.frame(:rst_stream, streams.pop, [8].pack("N")) # it waits no more
      eventually { @server.stats[:waiting] == 3 }
      gate.push(1)

      assert_equal [20_000],
        [*streams.map { |stream| client.response(stream) }, other.response(last), old.response]
          .map { |one| one.body.bytesize }.uniq
    end
    assert_equal 1, count
  end

  def test_an_expired_response_while_it_is_renewed
    count = 0
    app = lambda do |env|
      count += 1
      [200, {"cache-control" => "public, max-age=1, stale-while-revalidate=60", "content-type" => "text/plain"},
        ["#{count} #{env["SERVER_PROTOCOL"]}"]]
    end
    serving(app, cache: 1_000_000) do
      client = http2
      assert_equal "1 HTTP/2", client.get.body
      sleep 1.1 # its lifetime
      assert_equal "1 HTTP/2", client.get.body
      eventually { count == 2 }
      assert_equal "2 HTTP/1.1", client.get.body
    end
  end

  def test_statistics
    serving(HELLO) do
      client = http2
      3.times { client.get }

      assert_equal 1, @server.stats[:connections]
      assert_equal 3, @server.stats[:requests]
      assert_equal 1, @server.stats[:http2_connections]
      assert_equal 3, @server.stats[:http2_streams]
      assert_equal 3, @server.stats[:responses]["2xx"]
    end
  end
end
