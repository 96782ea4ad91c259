# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/certificates"
require_relative "../../support/http/http2_script"
require "pelton/http"

# What requests share, and what a server may do to it.
class ClientHttp2ConnectionTest < PeltonTest
  include Http2Scripts

  # ---- sharing

  def test_all_requests_share_one_connection
    client, server = answering(settings: {3 => 10}) { |peer, request| peer.respond(request.stream, request.path) }
    Pelton.run do
      tasks = Array.new(100) { |number| Pelton.spawn { client.get("/#{number}").body } }

      assert_equal Array.new(100) { |number| "/#{number}" }, tasks.map(&:await)
    end
    assert_equal 1, server.connections
  end

  # The server answers when as many have come as it allows.
  def test_the_servers_limit_of_streams
    server = script(settings: {3 => 3}) do |peer|
      Array.new(3) do
        batch = Array.new(3) { peer.request }
        batch.each { |request| peer.respond(request.stream) }.size
      end
    end
    Pelton.run do
      client = client_of(server)
      Array.new(9) { Pelton.spawn { client.get("/") } }.each(&:await)
      client.close
    end
    assert_equal [3, 3, 3], server.results.pop
  end

  # Those that the limit keeps waiting begin in order.
  def test_a_limit_of_zero_that_rises
    order = []
    server = script(settings: {3 => 0}) do |peer|
      first = peer.request
      peer.respond(first.stream)
      peer.write(Http2Peer.settings(3 => 1))
      while (request = peer.request)
        order << request.path
        peer.respond(request.stream)
      end
    end
    Pelton.run do
      client = client_of(server)
      client.get("/first")
      Array.new(5) { |number| Pelton.spawn { client.get("/#{number}") } }.each(&:await)
    end
    assert_equal %w[/0 /1 /2 /3 /4], order
  end

  def test_a_request_waits_for_a_stream_only_so_long
    server = script(settings: {3 => 1}) { |peer| peer.head(peer.request.stream) && peer.request }
    Pelton.run do
      client = client_of(server)
      client.get("/", stream: true)
      error = assert_raises(Pelton::TimeoutError) { client.get("/", pool_timeout: 0.02) }

      assert_match(/limit of streams/, error.message)
    end
  end

  def test_idle_connections_are_closed
    client, server = answering(keep_alive: 0.01) { |peer, request| peer.respond(request.stream) }
    Pelton.run do
      client.get("/")
      eventually { client.stats[:open].zero? }
      client.get("/")
    end
    assert_equal 2, server.connections
  end

  def test_what_comes_while_the_connection_is_idle
    client, server = answering do |peer, request|
      peer.respond(request.stream).frame(:ping, 0, "12345678").write(Http2Peer.settings(3 => 5))
    end
    3.times { client.get("/") }

    assert_equal 1, server.connections
  end

  def test_a_connection_that_ended_while_it_was_idle
    server = script { |peer| peer.respond(peer.request.stream).receive_until(:settings) } # the answer to its own
    client = client_of(server)
    3.times { assert_equal 200, client.get("/").status }

    assert_equal 3, server.connections
  end

  # ---- the choice of the protocol

  def test_the_server_chooses_by_tls
    server = script(tls: tls("h2")) do |peer|
      request = peer.request
      peer.respond(request.stream, request[":scheme"])
    end
    client = Pelton::HTTP::Client.new(server.url, tls: {ca_file: Certificates.authority})

    assert_equal "https", client.get("/").body
  end

  def test_what_cannot_be_made_fails_for_all_who_wait_for_it
    Pelton.run do
      client = Pelton::HTTP::Client.new("http://127.0.0.1:#{free_port}", http2: :prior_knowledge)
      tasks =
        Array.new(20) { |number| Pelton.spawn { assert_raises(Pelton::ConnectionError) { client.get("/#{number}") } } }

      tasks.each_with_index { |task, number| assert_equal 1, task.await.message.scan("GET").size, number.to_s }
    end
  end

  # ---- GOAWAY, and refused streams

  # Before the request came, the server has taken no stream; the next connection has it.
  def test_goaway_at_each_moment
    moments = {
      at_once: ->(peer) { peer.goaway(0) && peer.request },
      before_the_response: ->(peer) { peer.request.then { peer.goaway(0) } },
      first_but_taken: ->(peer) do
        peer.request.then { |one| peer.goaway(one.stream).respond(one.stream, "here") } && peer.request
      end,
      after_the_head: ->(peer) do
        peer.request.then { |one| peer.head(one.stream).goaway(one.stream).data(one.stream, "here") } && peer.request
      end,
      after_the_response: ->(peer) do
        peer.request.then { |one| peer.respond(one.stream, "here").goaway(one.stream) } && peer.request
      end
    }
    moments.each do |moment, first|
      server = script do |peer, number|
        next first.call(peer) if number == 1
        while (request = peer.request)
          peer.respond(request.stream, "next")
        end
      end
      client = client_of(server)

      assert_equal %i[at_once before_the_response].include?(moment) ? "next" : "here", client.post("/", body: "x").body,
        moment
      assert_equal "next", client.get("/").body, moment
      assert_equal 2, server.connections, moment
    end
  end

  def test_requests_that_a_server_leaves_move_on
    server = script(settings: {3 => 5}) do |peer|
      last = nil
      10.times { peer.respond(last = peer.request.stream) }
      peer.goaway(last)
      peer.request
    end
    Pelton.run do
      client = client_of(server)
      statuses = Array.new(40) { Pelton.spawn { client.post("/", body: "x").status } }.map(&:await)

      assert_equal [200], statuses.uniq
    end
    assert_equal 4, server.connections
  end

  def test_a_refused_stream_is_sent_again
    refused = 0
    client, = answering do |peer, request|
      next peer.respond(request.stream, request.body) if request.path == "/" && refused >= 3
      refused += 1
      peer.reset(request.stream, :refused_stream)
    end

    assert_equal "x", client.post("/", body: "x").body
    error = assert_raises(Pelton::ConnectionError) { client.post("/never", body: "x") }
    assert_match(/REFUSED_STREAM/, error.message)
    assert_equal 3 + 11, refused
  end

  # ---- errors of the server

  def test_a_reset_at_each_moment
    moments = {
      "the server reset the stream (INTERNAL_ERROR)" => ->(peer, id) { peer.reset(id, :internal_error) },
      "the server reset the stream (CANCEL)" => ->(peer, id) { peer.head(id).reset(id, :cancel) },
      "the server reset the stream (ENHANCE_YOUR_CALM)" => ->(peer, id) do
        peer.head(id).data(id, "abc", ended: false).reset(id, :enhance_your_calm)
      end
    }
    moments.each do |message, answer|
      client, server = answering do |peer, request|
        (request.path == "/bad") ? answer.call(peer, request.stream) : peer.respond(request.stream)
      end
      error = assert_raises(Pelton::ConnectionError) { client.get("/bad") }

      assert_includes error.message, message
      refute_kind_of Pelton::ProtocolError, error, message
      assert_equal 200, client.get("/").status, message
      assert_equal 1, server.connections, message
    end
  end

  # As a server does that needs no more of the body.
  def test_a_reset_after_the_response
    client, = answering { |peer, request| peer.respond(request.stream, "early").reset(request.stream, :no_error) }

    assert_equal "early", client.get("/").body
  end

  def test_malformed_responses_end_their_stream_alone
    answers = {
      "no status" => ->(peer, id) { peer.frame(:headers, id, Hpack.block([%w[x-one 1]]), flags: 5) },
      "101" => ->(peer, id) { peer.head(id, status: 101) },
      "a field of the connection" => ->(peer, id) { peer.head(id, {"transfer-encoding" => "chunked"}).data(id, "x") },
      "capitals" => ->(peer, id) { peer.head(id, {"X-One" => "1"}).data(id, "x") },
      "a line end in a value" => ->(peer, id) { peer.head(id, {"x-one" => "1\r\nx-two: 2"}).data(id, "x") },
      "two lengths" => ->(peer, id) { peer.head(id, [%w[content-length 1], %w[content-length 2]]).data(id, "x") },
      "more than content-length" => ->(peer, id) { peer.head(id, {"content-length" => "1"}).data(id, "xy") },
      "less than content-length" => ->(peer, id) { peer.head(id, {"content-length" => "3"}).data(id, "xy") },
      "a body of 204" => ->(peer, id) { peer.head(id, status: 204).data(id, "xy") },
      "1xx at the end" => ->(peer, id) { peer.head(id, status: 103, ended: true) },
      "endless 1xx" => ->(peer, id) { 101.times { peer.head(id, status: 103) } }
    }
    answers.each do |name, answer|
      client, server = answering do |peer, request|
        (request.path == "/bad") ? answer.call(peer, request.stream) : peer.respond(request.stream)
      end
      (name == "a body of 204") ? client.get("/bad") : assert_raises(Pelton::ProtocolError, name) { client.get("/bad") }

      assert_equal 200, client.get("/").status, name
      assert_equal 1, server.connections, name
    end
  end

  # What concerns the whole connection.
  def test_frames_that_end_the_connection
    frames = {
      "data of no stream" => ->(peer, _id) { peer.data(0, "x") },
      "a head of an even stream" => ->(peer, _id) { peer.head(2) },
      "a stream that was never begun" => ->(peer, id) { peer.data(id + 100, "x") },
      "a push" => ->(peer, id) do
        peer.frame(:push_promise, id, [2].pack("N") + Hpack.block([%w[:method GET]]), flags: 4)
      end,
      "a frame within a head" => ->(peer, id) { peer.frame(:headers, id, "", flags: 0).frame(:ping, 0, "12345678") },
      "a continuation of nothing" => ->(peer, id) { peer.frame(:continuation, id, "", flags: 4) },
      "broken HPACK" => ->(peer, id) { peer.frame(:headers, id, "\xff\xff\xff\xff\xff\xff", flags: 4) },
      "SETTINGS of a wrong length" => ->(peer, _id) { peer.frame(:settings, 0, "12345") },
      "a window that is too large" => ->(peer, _id) { peer.write(Http2Peer.settings(4 => 1 << 31)) },
      "a window opened too far" => ->(peer, _id) { 2.times { peer.open_window(0, (1 << 31) - 1) } },
      "a frame that is too large" => ->(peer, id) { peer.head(id).data(id, "x" * 16_385) },
      "another protocol" => ->(peer, _id) { peer.write("HTTP/1.1 400 Bad Request\r\n\r\n") }
    }
    frames.each do |name, bad|
      server = script do |peer, number|
        request = peer.request
        (number == 1) ? bad.call(peer, request.stream) : peer.respond(request.stream)
        peer.end_of_connection
      end
      client = client_of(server, response_timeout: 5, read_timeout: 5)
      error = assert_raises(Pelton::ConnectionError, name) { client.get("/") }

      refute_kind_of Pelton::TimeoutError, error, name
      assert_equal 200, client.get("/").status, name
      assert_equal 2, server.connections, name
    end
  end

  def test_too_long_heads
    client, server = answering do |peer, request|
      case request.path
      when "/long"
        fields = 5.times.map { |number| ["x-#{number}", "x" * 15_000] }
        fields.each_slice(1).with_index do |slice, index|
          block = (index.zero? ? Hpack.block([%w[:status 200]]) : "") + Hpack.block(slice)
          peer.frame(index.zero? ? :headers : :continuation, request.stream, block, flags: (index == 4) ? 4 : 0)
        end
      when "/many" then peer.head(request.stream, Array.new(101) { |number| ["x-#{number}", "1"] })
      # One long field in the table, and a thousand references to it.
      when "/bomb"
        peer.frame(:headers, request.stream,
          Hpack.block([%w[:status 200]]) + "\x40".b + Hpack.string("x") + Hpack.string("y" * 4000) + "\xbe".b * 1000,
          flags: 4)
      else peer.respond(request.stream)
      end
    end
    %w[/long /many /bomb].each do |path|
      assert_raises(Pelton::LimitError, path) { client.get(path) }
      assert_equal 200, client.get("/").status, path
    end
    assert_equal 1, server.connections
  end

  def test_endless_continuations
    server = script do |peer|
      id = peer.request.stream
      peer.frame(:headers, id, Hpack.block([%w[:status 200]]))
      20_000.times { peer.frame(:continuation, id, "") }
    end
    error = assert_raises(Pelton::Error) { client_of(server, response_timeout: 10).get("/") }

    refute_kind_of Pelton::TimeoutError, error
    assert_kind_of Pelton::Error, error
  end

  def test_endless_pings
    server = script do |peer|
      peer.request
      20_000.times { peer.frame(:ping, 0, "12345678") }
      peer.end_of_connection
    end

    assert_raises(Pelton::LimitError, Pelton::ConnectionError) { client_of(server, response_timeout: 10).get("/") }
  end

  # ---- the end of the connection

  def test_a_connection_that_is_cut_at_each_byte
    bytes = record { |peer| peer.head(1, {"content-length" => "5"}).data(1, "hello") }
    (0...bytes.bytesize).each do |length|
      server = script(settings: nil) do |peer|
        peer.request
        peer.write(bytes.byteslice(0, length))
      end
      error = assert_raises(Pelton::ConnectionError, length.to_s) { client_of(server).get("/") }

      assert_match(/\AGET /, error.message, length.to_s)
      refute_kind_of Pelton::ProtocolError, error, length.to_s
      assert_equal 1, server.connections, length.to_s
    end
    server = script(settings: nil) { |peer| peer.request && peer.write(bytes) }
    assert_equal "hello", client_of(server).get("/").body
  end

  def test_a_cut_fails_all_requests
    server = script { |peer| Array.new(5) { peer.request } && nil }
    Pelton.run do
      client = client_of(server)
      tasks = Array.new(5) { Pelton.spawn { assert_raises(Pelton::ConnectionError) { client.get("/") } } }

      assert_equal 5, tasks.map(&:await).uniq.size
      assert_equal 0, client.stats[:open]
    end
  end

  # It is the one that receives, and bytes come all the time.
  def test_a_deadline_ends_though_others_get_what_they_want
    server = script do |peer|
      peer.request
      peer.frame(:ping, 0, "12345678") until peer.io.wait_readable(0.0005) && peer.receive.type == :rst_stream
    end
    error = assert_raises(Pelton::TimeoutError) { client_of(server).get("/", response_timeout: 0.05) }

    assert_match(/response_timeout/, error.message)
  end

  # More than its window allows: memory is bounded.
  def test_a_server_that_sends_more_than_it_may
    client, = answering do |peer, request|
      next peer.respond(request.stream) unless request.path == "/large"
      peer.head(request.stream)
      70.times { peer.data(request.stream, "x" * 16_000, ended: false) }
    end
    large = client.get("/large", stream: true)

    assert_raises(Pelton::ConnectionError) { client.get("/") && large.body }
  end

  # Whoever receives for the others may leave at any moment.
  def test_one_that_receives_and_is_cancelled_passes_that_on
    got = Queue.new
    server = script do |peer|
      requests = Array.new(3) { peer.request.tap { |request| got << request } }
      peer.receive_until(:rst_stream)
      requests.drop(1).each { |request| peer.respond(request.stream, request.path) }
      peer.request
    end
    Pelton.run do
      client = client_of(server)
      tasks = Array.new(3) { |number| Pelton.spawn { client.get("/#{number}").body } }
      eventually { got.size == 3 }
      tasks.first.cancel

      assert_equal %w[/1 /2], tasks.drop(1).map(&:await)
    end
  end

  private

  def tls(*protocols)
    OpenSSL::SSL::SSLContext.new.tap do |context|
      identity = Certificates.server
      context.cert, context.key = identity.x509, identity.private_key
      context.alpn_select_cb = ->(offered) { (protocols & offered).first }
    end
  end

  # The bytes that a peer writes, with its SETTINGS.
  def record
    io = StringIO.new(Http2Peer::PREFACE.b)
    io.set_encoding(Encoding::BINARY)
    yield Http2Script::Peer.new(io)
    io.string.byteslice(Http2Peer::PREFACE.bytesize..)
  end
end
