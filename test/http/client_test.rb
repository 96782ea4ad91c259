# frozen_string_literal: true

require "zlib"
require_relative "../test_helper"
require_relative "../support/http/client_styles"

# What a client does, in every style.
module ClientSuite
  def test_verbs
    with_server do |client|
      %w[GET POST PUT PATCH DELETE OPTIONS].each do |verb|
        response = ask(client, verb.downcase.to_sym, "/x", body: ("body" unless verb == "GET"))

        assert_equal "#{verb} /x #{"body" unless verb == "GET"}", response.body
      end
      response = ask(client, :head, "/x")
      assert_equal "", response.body
      assert_equal "8", response["Content-Length"]
    end
  end

  def test_any_status_is_a_response
    with_server(->(_, _) { "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone" }) do |client|
      response = ask(client, :get, "/")

      assert_equal 404, response.status
      assert_equal "Not Found", response.reason
      assert_equal "gone", response.body
      assert_equal false, response.ok?
    end
  end

  def test_connections_are_used_again
    with_server do |client, server|
      3.times { ask(client, :get, "/") }

      assert_equal 1, server.connections
      assert_equal({open: 1, idle: 1}, client.stats)
      client.close
      assert_equal({open: 0, idle: 0}, client.stats)
    end
  end

  def test_a_connection_that_the_server_has_closed_meanwhile
    with_server(->(request, socket) { socket.write(echo(request)) && :close }) do |client, server|
      3.times { assert_equal "GET / ", ask(client, :get, "/").body }

      assert_equal 3, server.connections
    end
  end

  # The server takes the second request, and closes: nobody can tell whether it was carried out.
  def test_a_request_on_a_stale_connection_is_repeated_when_that_does_no_harm
    answer = ->(request, _) { (request.path == "/bad" && request.connection == 1) ? :close : echo(request) }
    with_server(answer) do |client, server|
      ask(client, :get, "/")
      assert_equal "GET /bad ", ask(client, :get, "/bad").body
      assert_equal %w[/ /bad /bad], server.seen.map(&:path)
    end
    with_server(answer) do |client, server|
      ask(client, :get, "/")
      assert_raises(Pelton::ConnectionError) { ask(client, :post, "/bad", body: "x") }
      assert_equal %w[/ /bad], server.seen.map(&:path)
    end
  end

  def test_a_server_that_never_answers_is_not_asked_again
    with_server(->(_, _) { :close }) do |client, server|
      assert_raises(Pelton::ConnectionError) { ask(client, :get, "/") }

      assert_equal 1, server.connections
    end
  end

  def test_a_body_may_be_chunked_or_end_with_the_connection
    bodies = {
      "/chunked" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n",
      "/close" => "HTTP/1.0 200 OK\r\n\r\nabcde"
    }
    with_server(->(request, socket) {
      socket.write(bodies[request.path]) &&
          {"/close" => :close}[request.path]
    }) do |client, server|
      2.times { assert_equal "abcde", ask(client, :get, "/chunked").body }
      2.times { assert_equal "abcde", ask(client, :get, "/close").body }

      assert_equal 2, server.connections
    end
  end

  def test_a_body_that_is_cut_off
    with_server(->(_, socket) {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf") &&
          :close
    }) do |client|
      assert_raises(Pelton::ConnectionError) { ask(client, :get, "/") }

      assert_equal({open: 0, idle: 0}, client.stats)
    end
  end

  def test_what_is_no_http
    with_server(->(_, _) { "SSH-2.0-OpenSSH\r\n\r\n" }) do |client|
      error = assert_raises(Pelton::ProtocolError) { ask(client, :get, "/") }

      assert_match(/first line/, error.message)
      assert_equal({open: 0, idle: 0}, client.stats)
    end
  end

  def test_informational_responses_are_passed_over
    with_server(->(request, _) do
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n#{echo(request)}"
    end) do |client|
      2.times { assert_equal "GET / ", ask(client, :get, "/").body }
    end
  end

  def test_a_bomb_is_not_inflated
    bomb = Zlib.gzip("\0" * 10_000_000)
    with_server(->(_, _) do
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: #{bomb.bytesize}\r\n\r\n#{bomb}"
    end) do |client|
      assert_raises(Pelton::LimitError) { ask(client, :get, "/", max_body: 1_000_000) }
      assert_raises(Pelton::LimitError) { ask(client, :get, "/", max_body: bomb.bytesize - 1, decode: false) }
      assert_equal 10_000_000, ask(client, :get, "/").body.bytesize
      assert_equal bomb, ask(client, :get, "/", decode: false).body
    end
  end

  def test_timeouts_of_the_phases
    with_server(->(request, _) do
      (request.path == "/half") ? "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf" : nil
    end) do |client|
      error = assert_raises(Pelton::TimeoutError) { ask(client, :get, "/", response_timeout: 0.02) }
      assert_match(/response_timeout/, error.message)
      assert_raises(Pelton::TimeoutError) { ask(client, :get, "/half", read_timeout: 0.02) }
      assert_raises(Pelton::TimeoutError) { ask(client, :get, "/half", timeout: 0.02) }
      assert_equal({open: 0, idle: 0}, client.stats)
    end
  end

  def test_large_bodies_both_ways
    large = Random.new(5).bytes(2_000_000)
    with_server(->(request, _) { ok(request.body) }) do |client|
      assert_equal large, ask(client, :post, "/", body: large).body
      assert_equal large, ask(client, :post, "/", body: StringIO.new(large)).body
      assert_equal large, ask(client, :post, "/", body: large.scan(/.{1,100000}/mn)).body
    end
  end

  def test_what_has_no_body_is_streamed_as_well
    with_server(->(request, _) do
      (request.verb == "HEAD") ? echo(request) : "HTTP/1.1 204 No Content\r\n\r\n"
    end) do |client, server|
      %i[head get].each do |verb|
        response = ask(client, verb, "/", stream: true, read_timeout: 0.05)

        assert_empty response.to_a
        assert_equal "", ask(client, verb, "/", stream: true).body
      end
      assert_equal 1, server.connections
    end
  end

  # Somebody asked for another protocol, and has not taken the connection.
  def test_a_connection_that_has_changed_its_protocol_is_closed_by_its_response
    with_server(->(_, _) do
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello"
    end) do |client|
      response = ask(client, :get, "/", headers: {"upgrade" => "x", "connection" => "upgrade"}, stream: true)
      assert_equal 101, response.status
      assert_equal "", response.body
      response.close

      assert_equal({open: 0, idle: 0}, client.stats)
      assert_equal 101,
        ask(client, :get, "/", headers: {"upgrade" => "x", "connection" => "upgrade"}).tap(&:close).status
    end
  end

  def test_tls
    context = OpenSSL::SSL::SSLContext.new.tap do |one|
      one.add_certificate(Certificates.server.x509, Certificates.server.private_key)
    end
    with_server(tls: context) do |client, server|
      2.times { assert_equal "GET / ", ask(client, :get, "/").body }
      assert_equal 1, server.connections
      stranger = Pelton::HTTP::Client.new(server.url)

      assert_raises(Pelton::VerificationError) { ask(stranger, :get, "/") }
    end
  end
end

PeltonTest.in_styles("Client", HTTPClientStyles::ALL, ClientSuite)

class ClientDirectTest
  def test_no_more_connections_than_allowed
    with_server(->(request, _) { sleep(0.001) && echo(request) }) do |_, server|
      client = Pelton::HTTP::Client.new(server.url, concurrency: 2)
      all = Array.new(20) { |number| client.later.get("/#{number}") }

      assert_equal (0..19).map { |number| "GET /#{number} " }, all.map { |one| one.await.body }
      assert_equal 2, server.connections
      held = Array.new(2) { client.get("/", stream: true) }
      assert_raises(Pelton::TimeoutError) { client.get("/", pool_timeout: 0.01) }
      held.each(&:discard)
      assert_equal "GET / ", client.get("/").body
    end
  end

  def test_a_body_that_is_streamed
    pieces = Queue.new
    in_pieces = lambda do |_, socket|
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      while (piece = pieces.pop)
        socket.write("#{piece.bytesize.to_s(16)}\r\n#{piece}\r\n")
      end
      "0\r\n\r\n"
    end
    with_server(in_pieces) do |client|
      response = client.get("/", stream: true)
      pieces << "one"
      got = []
      response.each do |piece|
        got << piece
        pieces << ((got.size == 3) ? nil : "more")
      end

      assert_equal %w[one more more], got
      assert_equal({open: 1, idle: 1}, client.stats)
      assert_raises(Pelton::Error) { response.each {} }
    end
  end

  def test_who_leaves_a_body_unread_closes_the_connection
    with_server(->(_, _) { "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n#{"x" * 500_000}" }) do |client|
      client.get("/", stream: true).each { break }
      client.get("/", stream: true).discard

      assert_equal({open: 0, idle: 0}, client.stats)
    end
  end

  def test_a_request_that_is_cancelled_gives_its_connection_back
    with_server(->(_, _) {}) do |_, server|
      client = Pelton::HTTP::Client.new(server.url, concurrency: 1)
      task = Pelton.spawn { client.get("/") }
      eventually { server.requests.size == 1 }
      task.cancel
      Pelton::Reactor.current.yield

      assert_equal({open: 0, idle: 0}, client.stats)
      assert_raises(Pelton::TimeoutError) { client.get("/", response_timeout: 0.01) }
    end
  end

  def test_threads_have_connections_of_their_own
    server = script { |request, _| echo(request) }
    client = Pelton::HTTP::Client.new(server.url)
    Array.new(3) { Thread.new { 2.times { assert_equal "GET / ", client.get("/").body } } }.each(&:join)

    assert_equal 3, server.connections
  end

  def test_a_child_has_connections_of_its_own
    server = script { |request, _| echo(request) }
    client = Pelton::HTTP::Client.new(server.url)
    client.get("/")
    pid = fork { exit!(client.get("/child").body == "GET /child ") }

    assert_predicate Process.wait2(pid).last, :success?
    assert_equal "GET /parent ", client.get("/parent").body
    assert_equal 2, server.connections
  end

  def test_a_stop_iteration_of_a_body_is_no_response
    server = script { |request, _| echo(request) }
    body = Object.new
    body.define_singleton_method(:each) { |&block| [].each.next.then(&block) }
    client = Pelton::HTTP::Client.new(server.url)

    Pelton.run { assert_raises(StopIteration) { client.post("/", body: body) } }
  end

  def test_the_shared_client
    server = script { |request, _| echo(request) }

    assert_equal "GET / ", Pelton::HTTP.get(server.url).body
    assert_equal "POST /x y", Pelton::HTTP.later.post("#{server.url}/x", body: "y").await.body
  ensure
    Pelton::HTTP.client.close
  end

  def test_inspect_shows_no_credentials
    client = Pelton::HTTP::Client.new("http://me:secret@x/", headers: {"authorization" => "secret"},
      proxy: "http://a:secret@b")

    assert_equal "#<Pelton::HTTP::Client x>", client.inspect
  end

  def test_options_that_are_not_known
    assert_raises(ArgumentError) { Pelton::HTTP::Client.new(repeat: 1) }
    assert_raises(ArgumentError) { Pelton::HTTP.get("http://localhost/", retry: 1) }
    assert_raises(ArgumentError) { Pelton::HTTP::Client.new("ftp://x") }
  end
end
