# frozen_string_literal: true

require_relative "../../support/http/peer"

# The server's cache of public responses. core/http1/test_caching.c has the rules for headers.
class HTTPCachedResponseTest < PeltonTest
  include HttpPeer

  PUBLIC = {"content-type" => "text/plain", "cache-control" => "public, max-age=60", "etag" => "\"a\"",
            "last-modified" => "Mon, 01 Jan 2024 00:00:00 GMT"}.freeze

  def test_a_public_response_is_answered_without_the_application
    cached do
      connection = peer
      first, second = Array.new(2) { connection.get("/a") }

      assert_equal ["1 GET /a localhost"] * 2, [first.body, second.body]
      assert_nil first["age"]
      assert_equal "0", second["age"]
      assert_equal first.headers, second.headers.except("age")
      assert_equal [1, 1], @server.stats.values_at(:cache_hits, :cache_misses)
      assert_operator @server.stats[:cache_bytes], :>, 100
      assert_equal 2, @server.stats[:requests]
      assert_equal 2, @server.stats[:responses]["2xx"]
      assert_equal 2, @server.stats[:durations]["GET 200"]["+Inf"]
    end
  end

  # As clients without keep-alive and health checks of balancers have it.
  def test_a_response_on_a_connection_that_ends_is_kept
    cached do
      answers = Array.new(2) { peer.get("/a", "Connection: close\n") }
      assert_equal ["close"], answers.map { |answer| answer["connection"] }.uniq
      assert_equal [nil, "0"], answers.map { |answer| answer["age"] }
      assert_nil peer.get("/a")["connection"]
      assert_equal 1, @calls
    end
  end

  def test_it_is_off_by_default
    [{}, {cache: nil}, {cache: 0}].each do |options|
      @calls = 0
      serving(method(:application), **options) do
        assert_equal ["1 GET /a localhost", "2 GET /a localhost"], Array.new(2) { peer.get("/a").body }
        refute @server.stats.key?(:cache_hits)
      end
    end
  end

  def test_head_and_conditions_are_answered_from_it
    cached do
      connection = peer
      connection.get("/a")
      head = connection.get("/a", method: "HEAD")
      by_tag = connection.get("/a", "If-None-Match: W/\"a\"\n")
      by_date = connection.get("/a", "If-Modified-Since: #{PUBLIC["last-modified"]}\n")

      assert_equal 200, head.status
      assert_equal "18", head["content-length"]
      [by_tag, by_date].each do |response|
        assert_equal [304, "\"a\"", "public, max-age=60", "0"],
          [response.status, *response.headers.values_at("etag", "cache-control", "age")]
        assert_empty response.headers.keys & %w[content-length content-type]
      end
      assert_equal "1 GET /a localhost", connection.get("/a", "If-None-Match: \"b\"\n").body
      assert_equal 4, @server.stats[:cache_hits]
      assert_equal 1, @calls
    end
  end

  # HEAD's response has no body, so GET gets none of it.
  def test_the_response_to_head_is_not_kept
    cached do
      connection = peer
      connection.get("/a", method: "HEAD")

      assert_equal "2 GET /a localhost", connection.get("/a").body
      connection.say("POST /a HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n")
      assert_equal "3 POST /a localhost", connection.response.body
    end
  end

  def test_a_response_grows_old
    cached(headers: PUBLIC.merge("cache-control" => "public, max-age=1")) do
      assert_equal "1 GET /a localhost", peer.get("/a").body
      sleep 1.1
      assert_equal "2 GET /a localhost", peer.get("/a").body
      assert_equal 0, @server.stats[:cache_hits]
    end
  end

  # ---- what a response must not depend on, and what it may

  def test_requests_with_anything_personal_or_unknown_reach_the_application
    cached do
      connection = peer
      connection.get("/a")
      ["Cookie: a=b", "Authorization: Basic x", "Range: bytes=0-1", "Cache-Control: no-cache", "X-Host: evil",
        "Accept: a\nAccept: b", "Forwarded: host=evil",
        "X-Original-URL: /admin", "X-Rewrite-URL: /admin", "X-HTTP-Method-Override: POST", "Origin: http://evil",
        "X-Anything: 1"].each_with_index do |header, index|
        assert_equal "#{index + 2} GET /a localhost", connection.get("/a", "#{header}\n").body, header
      end
      assert_equal "1 GET /a localhost", connection.get("/a").body
    end
  end

  # Poisoning: an application that shows a header which is not in the key. What it shows stays with who has sent the
  # header.
  def test_no_unkeyed_header_gets_into_the_cache
    shown =
      %w[HTTP_X_FORWARDED_HOST HTTP_X_HOST HTTP_X_FORWARDED_PREFIX HTTP_FORWARDED HTTP_X_ORIGINAL_URL HTTP_COOKIE
        HTTP_X_EVIL HTTP_RANGE]
    app = ->(env) { [200, PUBLIC.dup, ["links to #{env.values_at(*shown).compact.join}"]] }
    serving(app, cache: 1 << 20) do
      shown.each do |name|
        header = name.delete_prefix("HTTP_").tr("_", "-")
        path = "/#{header}"

        assert_equal "links to evil", peer.get(path, "#{header}: evil\n").body
        assert_equal "links to ", peer.get(path).body
        assert_equal "links to evil", peer.get(path, "#{header}: evil\n").body
      end
    end
  end

  # A poisoned Host is answered only to those who send it; so is each spelling.
  def test_hosts
    cached do
      hosts = ["localhost", "evil", "LOCALHOST", "localhost:80", "localhost.", ""]
      answers = Array.new(2) { hosts.map { |host| by_host(host) } }

      assert_equal answers.first, answers.last
      assert_equal hosts.size, answers.first.uniq.size
      assert_equal hosts.size, @calls
    end
  end

  # Deception: paths that look like others to a cache that normalises them. Each is its own, and reaches the application
  # once.
  def test_paths_are_taken_as_they_are
    paths = ["/account", "/account/", "/account/x.css", "/account%2fx.css", "/account%2Fx.css", "/account;x.css",
      "/account;/x.css", "//account", "/account//x.css", "/account/./x.css",
      "/account/../account", "/Account", "/account?x", "/account?", "/account?x=1&y=2", "/account?y=2&x=1",
      "/account%00x.css", "/account%23x.css", "/account%3fx.css", "/%61ccount",
      "/account\\x.css", "/account%0ax.css", "/account.css", "/account/%2e%2e/x.css"]
    cached do
      paths.each { |path| peer.get(path) }
      assert_equal paths.size, @calls
      paths.each_with_index { |path, index| assert_match(/\A#{index + 1} /, peer.get(path).body, path) }
      assert_equal paths.size, @calls
    end
  end

  # Deception, too: a page of somebody who is signed in, under a path that looks like a file's.
  def test_a_page_of_one_user_is_not_kept
    app = ->(env) {
      [200, env["HTTP_COOKIE"] ? {"content-type" => "text/html"} : PUBLIC.dup,
        ["account of #{env["HTTP_COOKIE"] || "nobody"}"]]
    }
    serving(app, cache: 1 << 20) do
      assert_equal "account of me", peer.get("/account/x.css", "Cookie: me\n").body
      assert_equal "account of nobody", peer.get("/account/x.css").body
      assert_equal "account of you", peer.get("/account/x.css", "Cookie: you\n").body
    end
  end

  def test_codings_and_schemes_of_a_proxy_are_kept_apart
    app = ->(env) {
      [200, PUBLIC.merge("vary" => "accept-encoding"),
        [env["HTTP_ACCEPT_ENCODING"].to_s + env["HTTP_X_FORWARDED_PROTO"].to_s]]
    }
    serving(app, cache: 1 << 20) do
      2.times do
        ["", "Accept-Encoding: gzip\n", "Accept-Encoding: br\n", "X-Forwarded-Proto: https\n",
          "X-Forwarded-Proto: http\n"].each do |header|
          assert_equal header[/: (.*)/, 1].to_s, peer.get("/a", header).body
        end
      end
      assert_equal 5, @server.stats[:cache_hits]
    end
  end

  # ---- what is not kept

  def test_responses_that_are_not_kept
    [{"cache-control" => "max-age=60"}, {"cache-control" => "private, max-age=60"},
      {"cache-control" => "public, no-store, max-age=60"}, {"cache-control" => "public"},
      {"set-cookie" => "a=b"}, {"set-cookie" => ["a=b", "c=d"]}, {"vary" => "*"}, {"vary" => "Cookie"},
      {"vary" => "accept-encoding, origin"}, {"age" => "5"},
      {"date" => "Mon, 01 Jan 2024 00:00:00 GMT"}, {"connection" => "close, x-own"},
      {"cache-control" => "public, max-age=60, max-age=5"}].each do |headers|
      cached(headers: PUBLIC.merge(headers)) do
        assert_equal %w[1 2], Array.new(2) { peer.get("/a").body[0] }, headers.inspect
        assert_equal 0, @server.stats[:cache_bytes]
      end
    end
  end

  def test_only_status_200_is_kept
    [201, 203, 206, 301, 404, 410, 500].each do |status|
      cached(status: status) { assert_equal %w[1 2], Array.new(2) { peer.get("/a").body[0] }, status.to_s }
    end
  end

  # Bodies that are produced while they are sent may end early; a proxy's 100-continue and a stream's end look alike.
  def test_bodies_that_are_not_whole_when_the_response_begins_are_not_kept
    calls = 0
    app = lambda do |env|
      calls += 1
      case env["PATH_INFO"]
      when "/each" then [200, PUBLIC.dup, [calls.to_s].each]
      when "/stream" then [200, PUBLIC.dup, ->(stream) { stream.write(calls.to_s) && stream.close }]
      when "/broken" then [200, PUBLIC.merge("content-length" => "10"), Enumerator.new { |body| body << "1" }]
      else [200, PUBLIC.dup, ["1", calls.to_s]]
      end
    end
    serving(app, lint: false, cache: 1 << 20) do
      2.times { assert_equal calls.succ.to_s, peer.get("/each").body }
      2.times { assert_equal calls.succ.to_s, peer.get("/stream").body }
      2.times { answer("GET /broken HTTP/1.1\r\nHost: localhost\r\n\r\n") }
      assert_equal 6, calls
      assert_equal 2, reported.size
      2.times { assert_equal "17", peer.get("/parts").body }
    end
  end

  def test_a_client_that_leaves_in_the_middle_of_a_large_response
    body = "x" * 100_000
    serving(->(_) { [200, PUBLIC.dup, [body]] }, cache: 4 << 20) do
      peer.say("GET /a HTTP/1.1\nHost: localhost\n\n").close
      eventually { @server.stats[:requests] == 1 && @server.stats[:running].zero? }
      assert_equal body, peer.get("/a").body
      slow = peer.say("GET /a HTTP/1.1\nHost: localhost\n\n")
      slow.io.read(10)
      slow.close
      assert_equal body, peer.get("/a").body
    end
  end

  # The rest of a response that the client has not read yet is its own, whatever becomes of the cache meanwhile.
  def test_a_slow_reader_gets_what_was_cached
    serving(->(env) { [200, PUBLIC.dup, [env["PATH_INFO"] * 50_000]] }, cache: 8 << 20) do
      4.times { |number| peer.get("/#{number}") }
      slow = Array.new(4) { |number| peer.say("GET /#{number} HTTP/1.1\nHost: localhost\n\n" * 20) }
      eventually { @server.stats[:cache_hits] >= 4 }
      200.times { |number| peer.get("/other#{number}", method: "GET") }
      GC.start
      slow.each_with_index do |connection, number|
        20.times { assert_equal "/#{number}" * 50_000, connection.response.body }
      end
    end
  end

  # What the slow clients have not read yet lies in the cache, of which they may hold a half.
  def test_slow_readers_of_many_versions
    body = ->(path) { path * 50_000 }
    serving(->(env) { [200, PUBLIC.dup, [body.call(env["PATH_INFO"])]] }, cache: 2 << 20) do
      slow = Array.new(12) do |number|
        peer.get("/#{number}")
        peer.say("GET /#{number} HTTP/1.1\nHost: localhost\n\n" * 40)
      end
      eventually { @server.stats[:requests] >= 24 }
      slow.each_slice(2) do |leaves, stays|
        leaves.close
        number = slow.index(stays)
        40.times { assert_equal body.call("/#{number}"), stays.response.body }
      end
      peer.get("/new")
      assert_equal "0", peer.get("/new")["age"] # there is space again
    end
  end

  # ---- bounds

  def test_the_memory_stays_within_the_limit
    serving(->(env) { [200, PUBLIC.dup, [env["PATH_INFO"] * 100]] }, cache: 200_000) do
      connection = peer
      1000.times do |number|
        assert_equal "/#{number}" * 100, connection.get("/#{number}").body
        assert_operator @server.stats[:cache_bytes], :<=, 200_000
      end
      assert_operator @server.stats[:cache_bytes], :>, 100_000
      assert_equal "/999" * 100, connection.get("/999").body
      assert_equal 1, @server.stats[:cache_hits]
    end
  end

  def test_a_large_response_is_not_kept
    serving(->(_) { [200, PUBLIC.dup, ["x" * 20_000]] }, cache: 100_000) do
      2.times { assert_equal 20_000, peer.get("/a").body.bytesize }
      assert_equal [0, 0], @server.stats.values_at(:cache_hits, :cache_bytes)
    end
  end

  def test_a_long_target_is_not_kept
    cached do
      path = "/#{"x" * 4096}"
      assert_equal %w[1 2], Array.new(2) { peer.get(path).body[0] }
      assert_equal [0, 0], @server.stats.values_at(:cache_hits, :cache_misses)
    end
  end

  # ---- connections

  def test_pipelined_requests
    cached do
      connection = peer
      connection.say("GET /a HTTP/1.1\nHost: localhost\n\n" * 3 + "GET /b HTTP/1.1\nHost: localhost\n\n" +
        "GET /a HTTP/1.1\nHost: localhost\n\n" * 40)
      bodies = Array.new(44) { connection.response.body[/\A\d+ GET (\/.)/] }

      assert_equal ["1 GET /a"] * 3 + ["2 GET /b"] + ["1 GET /a"] * 40, bodies
    end
  end

  def test_a_client_that_sends_no_more
    cached do
      peer.get("/a")
      connection = peer
      connection.io.write("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)
      connection.io.close_write

      3.times { assert_equal "1 GET /a localhost", connection.response.body }
      assert_predicate connection, :ended?
    end
  end

  def test_a_request_that_arrives_byte_by_byte
    cached do
      connection = peer
      connection.get("/a")
      "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n".each_char { |byte| connection.io.write(byte) && connection.io.flush }
      assert_equal "1 GET /a localhost", connection.response.body
      assert_equal 1, @calls
    end
  end

  def test_the_last_request_of_a_connection
    cached(max_requests: 2) do
      peer.get("/a")
      response =
        peer.tap { |connection| connection.say("GET /a HTTP/1.1\nHost: localhost\nConnection: close\n\n") }.response
      assert_equal "close", response["connection"]
      assert_equal "1 GET /a localhost", response.body
      connection = peer
      assert_nil connection.get("/a")["connection"]
      assert_equal "close", connection.get("/a")["connection"]
      assert_predicate connection, :ended?
    end
  end

  def test_http_1_0
    cached do
      peer.get("/a")
      assert_match(/\r\n\r\n2 GET/, answer("GET /a HTTP/1.0\r\nHost: localhost\r\n\r\n"))
    end
  end

  # The bytes are copied: what the application does with its strings later changes nothing.
  def test_strings_that_change
    body = +"before"
    serving(->(_) { [200, PUBLIC.dup, [body]] }, cache: 1 << 20) do
      peer.get("/a")
      body.replace("after!")
      assert_equal "before", peer.get("/a").body
    end
  end

  def test_responses_that_come_later
    app = lambda do |env|
      Pelton.add_timer(0.01) { env["async.callback"].call([200, PUBLIC.dup, ["later #{@calls = @calls.to_i + 1}"]]) }
      [-1, {}, []]
    end
    serving(app, lint: false, cache: 1 << 20) { 2.times { assert_equal "later 1", peer.get("/a").body } }
  end

  # Not what the application's objects say, but what was sent: a value of two lines is refused before.
  def test_a_header_with_a_line_end_is_no_second_header
    cached(headers: PUBLIC.merge("x" => "a\r\nset-cookie: b=c"), lint: false) do
      assert_equal 500, peer.get("/a").status
      assert_equal 1, reported.size
      assert_equal 0, @server.stats[:cache_bytes]
    end
  end

  private

  # An application whose body tells how often it was called.
  def cached(status: 200, headers: PUBLIC, lint: true, **options, &block)
    @calls = 0
    @status = status
    @headers = headers
    serving(method(:application), lint: lint, cache: 1 << 20, **options, &block)
  end

  def application(env)
    [@status || 200, (@headers || PUBLIC).dup,
      ["#{@calls += 1} #{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{env["HTTP_HOST"]}"]]
  end

  def by_host(host) = peer.say("GET /a HTTP/1.1\nHost: #{host}\n\n").response.body
end
