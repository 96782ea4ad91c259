# frozen_string_literal: true

require_relative "../support/http/peer"

class HTTPServerTest < PeltonTest
  include HttpPeer

  def test_the_requests_that_it_answers
    gate, later = Thread::Queue.new, nil
    app = ->(env) {
      (env["PATH_INFO"] == "/later") ? (later = env["async.callback"]) && [-1, {},
        []] : [200, {}, [gate.pop]]
    }
    serving(app, lint: false, concurrency: 2) do
      %w[/waits /later /queued].each { |path| peer.say("GET #{path}?secret HTTP/1.1\nHost: h\n\n") }
      eventually { server.stats.values_at(:running, :waiting) == [2, 1] }
      peer # which sends nothing
      rows = server._running_requests

      assert_equal [["GET /later", :running, nil], ["GET /queued", :queued, nil], ["GET /waits", :running, Fiber]],
        rows.map { |row| [row[:name], row[:state], row[:fiber]&.class] }.sort_by(&:first)
      assert(rows.all? { |row| row[:age].between?(0, 30) })
      Pelton.spawn { later.call([200, {}, ->(stream) { gate.pop && stream.close }]) }
      eventually { server._running_requests.find { |row| row[:name] == "GET /later" }[:state] == :sending }
      3.times { gate << "done" }
      eventually { server.stats.values_at(:running, :waiting) == [0, 0] }

      assert_empty server._running_requests
    end
    assert_empty server._running_requests
  end

  def test_a_connection_stays_open_for_the_next_request
    serving(->(env) { [200, {}, [env["PATH_INFO"]]] }) do
      connection = peer

      assert_equal(%w[/1 /2 /3], %w[/1 /2 /3].map { |path| connection.get(path).body })
      assert_equal 1, server.stats[:accepted]
      assert_equal 3, server.stats[:requests]
    end
  end

  def test_responses_are_counted_by_class_and_time
    serving(->(env) { [env["PATH_INFO"][1..].to_i, {}, []] }, lint: false) do
      connection = peer
      %w[200 201 302 404 500].each { |status| connection.get("/#{status}") }
      answer("nonsense\r\n\r\n")

      assert_equal({"1xx" => 0, "2xx" => 2, "3xx" => 1, "4xx" => 2, "5xx" => 1}, server.stats[:responses])
      times = server.stats[:durations]
      assert_equal ["GET 200", "GET 201", "GET 302", "GET 404", "GET 500"], times.keys.sort
      times.each_value do |counts|
        assert_equal 1, counts["+Inf"]
        assert_equal counts.values[0..-2].sort, counts.values[0..-2]
        assert_operator counts["sum"], :>, 0
      end
    end
  end

  def test_a_status_without_a_class_is_counted_among_the_times_alone
    serving(->(_env) { [600, {}, []] }, lint: false) do
      2.times { answer("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }

      assert_equal [0], server.stats[:responses].values.uniq
      assert_equal({"GET 600" => 2}, server.stats[:durations].transform_values { |counts| counts["+Inf"] })
    end
  end

  def test_requests_are_timed_by_their_method_and_the_route_that_the_application_names
    route = Struct.new(:to_s)
    # Two objects may be one route
    routes = {"/posts/7" => route.new("/posts/:id"), "/posts/8" => route.new("/posts/:id"), "/a b" => "/a b"}
    app = lambda do |env|
      env["pelton.web.route"] = routes[env["PATH_INFO"]]
      env["REQUEST_METHOD"] = "DELETE" if env["QUERY_STRING"] == "_method=delete"
      [200, {}, ["hello"]]
    end
    serving(app, lint: false) do
      ["GET /posts/7", "GET /posts/8", "HEAD /posts/7", "POST /posts/8?_method=delete", "PURGE /", "GET /posts/7",
        "GET /"].each do |line|
        answer("#{line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      end

      counts = server.stats[:durations].transform_values { |counts| counts["+Inf"] }
      assert_equal({
        "GET 200 /posts/:id" => 3,
        "HEAD 200 /posts/:id" => 1,
        "POST 200 /posts/:id" => 1,
        "_OTHER 200" => 1,
        "GET 200" => 1
      }, counts)
    end
  end

  def test_the_number_of_series_is_bounded
    serving(->(env) { [200, {}, []].tap { env["pelton.web.route"] = "/#{env["PATH_INFO"]}" } }) do
      connection = peer
      600.times { |number| connection.get("/#{number}") }
      GC.start
      counts = server.stats[:durations]

      assert_equal 501, counts.size
      assert_equal 600, counts.sum { |_, times| times["+Inf"] }
      assert_equal 100, counts["GET 200"]["+Inf"]
    end
  end

  def test_requests_in_progress_are_active
    serving(->(_env) { [200, {}, [server.stats.values_at(:active, :running, :waiting).to_s]] }) do
      assert_equal "[1, 1, 0]", peer.get("/").body
      assert_equal 0, server.stats[:active]
    end
  end

  def test_a_request_takes_until_its_response_is_complete
    serving(->(_env) { [200, {}, ->(stream) { [stream.write("a"), sleep(0.02), stream.close] }] }) do
      peer.get("/")
      sleep 0.001 until server.stats[:durations].any?
      times = server.stats[:durations].fetch("GET 200")

      assert_equal [0, 1], times.values_at("0.01", "+Inf")
      assert_operator times["sum"], :>=, 0.02
    end
  end

  def test_a_handler_that_waits_holds_up_its_own_connection_alone
    order = []
    app = lambda do |env|
      sleep 0.002 until env["PATH_INFO"] != "/slow" || order.any?
      order << env["PATH_INFO"]
      HELLO.call(env)
    end
    serving(app) do
      slow = peer.say("GET /slow HTTP/1.1\nHost: h\n\nGET /after HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until server.stats[:running] == 1
      peer.get("/quick")
      2.times { slow.response }
    end
    assert_equal %w[/quick /slow /after], order
  end

  def test_connections_close_when_either_side_wants_it
    serving(->(env) { [200, (env["PATH_INFO"] == "/close") ? {"connection" => "close"} : {}, ["x"]] }) do
      connection = peer

      assert_equal "close", connection.get("/", "Connection: close\n")["connection"]
      assert_predicate connection, :ended?
      connection = peer

      assert_equal "close", connection.get("/close")["connection"]
      assert_predicate connection, :ended?
    end
  end

  def test_clients_of_version_1_0
    serving(HELLO) do
      connection = peer.say("GET / HTTP/1.0\n\n")

      assert_equal "close", connection.response["connection"]
      assert_predicate connection, :ended?
      connection = peer.say("GET / HTTP/1.0\nConnection: keep-alive\n\n")

      assert_equal "keep-alive", connection.response["connection"]
      assert_equal "hello", connection.get("/").body
    end
  end

  def test_unix_sockets
    Dir.mktmpdir do |dir|
      Pelton.run do
        server = Pelton::HTTP::Server.new(Rack::Lint.new(->(env) { [200, {}, [env["REMOTE_ADDR"]]] }))
        server.listen("unix://#{dir}/s")
        client = Peer.new(UNIXSocket.new("#{dir}/s"))

        assert_equal "127.0.0.1", client.get("/").body
        client.close
        assert server.stop
      end
    end
  end

  def test_several_servers_beside_each_other
    Pelton.run do
      servers = %w[a b].map { |text| Pelton::HTTP::Server.new(->(_) { [200, {}, [text]] }) }
      texts = servers.map do |server|
        client = Peer.new(TCPSocket.new("127.0.0.1", server.listen("tcp://127.0.0.1:0").port))
        client.get("/").body.tap { client.close }
      end

      assert_equal %w[a b], texts
      assert_equal [true, true], servers.map(&:stop)
    end
  end

  def test_run_ends_when_the_server_has_stopped
    server = nil
    Pelton.run do
      server = Pelton::HTTP::Server.new(HELLO)
      server.listen("tcp://127.0.0.1:0")
      Pelton.next_tick { Pelton.spawn { server.stop } }
    end

    assert_empty server.listeners
  end

  def test_options_are_checked
    assert_match(/unknown option: threads/,
      assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO, threads: 5) }.message)
    assert_raises(ArgumentError) { Pelton::HTTP::Server.new(nil) }
    assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO, concurrency: 0) }
    assert_match(/idle_timeout: must .*, not -1/,
      assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO, idle_timeout: -1) }.message)
    assert_match(/256 at most/,
      assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO, max_headers: 257) }.message)
    assert_match(/queue: must .*, not "many"/,
      assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO, queue: "many") }.message)
    assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO).listen("http://localhost") }
    assert_raises(ArgumentError) { Pelton::HTTP::Server.new(HELLO).listen("unix://") }
  end

  # Otherwise the first stall and the first handshake would load them inside the loop.
  def test_a_new_server_loads_the_logger_and_the_gem_for_websockets
    assert_equal "[false, [true, true]]\n", ruby_output(<<~RUBY, gems: true)
      require "pelton/http"
      gem "websocket-driver"
      loaded = -> { [defined?(::Logger), defined?(::WebSocket::Driver)].map { |name| !!name } }
      before = loaded.call
      Pelton::HTTP::Server.new(->(_env) { [200, {}, []] })
      p [before.last, loaded.call]
    RUBY
  end

  def test_a_server_is_one_threads
    serving(HELLO) do
      peer.get("/")
      connection = peer
      connection.get("/")
      error = Thread.new do
        Pelton.run do
          one, other = Pelton::Stream.pair
          assert_raises(Pelton::Error) { server.serve(one) }
        ensure
          [one, other].each(&:close)
        end
      end.value

      assert_match(/another thread/, error.message)
    end
  end

  # Its connections are the parent's; it counts its own.
  def test_a_server_in_a_child
    serving(HELLO) do
      connection = peer
      connection.get("/")
      reader, writer = IO.pipe
      pid = fork do
        Pelton.run do
          one, other = Pelton::Stream.pair
          server.serve(one)
          other.write("GET / HTTP/1.0\r\n\r\n")
          writer.write(other.read[/hello\z/], server.stats[:connections])
        end
        exit!(0)
      end
      Process.wait(pid)
      writer.close

      assert_equal "hello0", reader.read
      assert_equal "hello", connection.get("/").body
    end
  end

  # It would hold up all others for a tenth of a second.
  def test_the_first_handshake_loads_nothing
    output, errors, status = run_ruby(<<~'RUBY', gems: true)
      require "pelton/http"
      loaded = nil
      app = lambda do |env|
        loaded = $LOADED_FEATURES.dup
        Pelton::HTTP::WebSocket.accept(env, origins: :any) { |socket| socket.write("hello") }
      end
      Pelton.run do
        port = Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:0").port
        peer = Pelton.connect("127.0.0.1", port)
        peer.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" \
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        puts peer.gets
        peer.gets("\r\n\r\n")
        puts peer.read(7)
        Pelton.stop
      end
      puts ($LOADED_FEATURES - loaded).inspect
    RUBY

    assert_predicate status, :success?, errors
    assert_equal ["HTTP/1.1 101 Switching Protocols", "\x81\x05hello".b, "[]"], output.b.delete("\r").lines(chomp: true)
  end
end
