# frozen_string_literal: true

require_relative "../../support/http/peer"

# Ruby code that C calls in the middle of an answer, and fibers that wait there, while somebody else ends the exchange.
class HTTPReentrancyTest < PeltonTest
  include HttpPeer

  POST = "POST / HTTP/1.1\nHost: h\nContent-Length: 4\n\n"

  # An object whose conversion runs a block.
  def converts(method, &block) = Object.new.tap { |object| object.define_singleton_method(method, &block) }

  # An exchange whose response is being streamed.
  def streaming
    exchange = nil
    app = lambda do |env|
      exchange = env["async.callback"]
      [200, {}, proc {}]
    end
    serving(app, lint: false) do
      connection = peer.say(GET)
      sleep 0.002 until exchange
      yield exchange, connection
    end
  end

  # Answers "first" when the block is true.
  def answer_first(env)
    Pelton.spawn do
      sleep 0.002 until yield
      env["async.callback"].call([200, {}, ["first"]])
    end
  end

  # Each of these waits for as long as it takes, and finds its connection closed and collected.
  def test_a_write_whose_string_ends_the_exchange
    streaming do |exchange|
      part = converts(:to_s) do
        exchange.abort
        exchange = nil
        GC.start
        "x"
      end
      kept = exchange

      assert_raises(Pelton::ClosedError) { kept.write(part) }
    end
  end

  def test_a_write_that_waits_when_the_client_goes
    streaming do |exchange, connection|
      writers = Array.new(2) do
        Pelton.spawn do
          assert_raises(Pelton::ClosedError, Pelton::ConnectionError) { loop { exchange.write("x" * 100_000) } }
        end
      end
      sleep 0.002
      connection.reset
      sleep 0.002 until server.stats[:connections].zero?
      GC.start
      writers.each(&:await)
    end
  end

  def test_a_read_that_waits_when_the_client_goes
    exchange = nil
    app = answering_later { |env| exchange = env["async.callback"] }
    serving(app, lint: false) do
      connection = peer.say(POST)
      sleep 0.002 until exchange
      reads = false
      reader = Pelton.spawn { assert_raises(Pelton::ClosedError) { (reads = true) && exchange.__send__(:_read) } }
      sleep 0.002 until reads
      connection.reset
      sleep 0.002 until server.stats[:connections].zero?
      GC.start
      reader.await
    end
  end

  # The body that comes then is the next request's.
  def test_a_read_that_waits_when_the_answer_is_complete
    inputs = []
    reads = false
    app = lambda do |env|
      inputs << env["rack.input"]
      next [200, {}, [inputs.last.read]] if inputs.size > 1
      Pelton.spawn { assert_raises(Pelton::ClosedError) { (reads = true) && inputs.first.read } }
      answer_first(env) { reads }
      ASYNC
    end
    serving(app, lint: false) do
      connection = peer.say(POST)

      assert_equal "first", connection.response.body
      connection.say("", "abcd").say(POST, "efgh")

      assert_equal "efgh", connection.response.body
    end
  end

  # What was written before it has been sent meanwhile, so there is nothing to take back.
  def test_a_body_that_waits_and_raises_when_asked_for_its_parts
    app = lambda do |env|
      next [200, {}, ["first"]] if env["PATH_INFO"] == "/1"
      [200, {}, converts(:to_ary) { sleep(0.005) && raise("none") }]
    end
    serving(app, lint: false) do
      connection = peer.say("GET /1 HTTP/1.1\nHost: h\n\n#{GET}")

      assert_equal "first", connection.response.body
      assert_equal 500, connection.response.status
    end
    assert_equal ["none"], reported.map(&:message)
  end

  # Nobody has the connection any more, so nobody may have it from this one.
  def test_an_upgrade_whose_headers_take_until_the_reactor_stops
    given = nil
    waits = false
    headers = converts(:to_hash) do
      (waits = true) && sleep
    rescue Pelton::Cancelled
      {}
    end
    app = answering_later do |env|
      Pelton.spawn { env["async.callback"].call([101, headers, ->(stream) { given = stream }]) }
    end
    Pelton.run do
      @server = Pelton::HTTP::Server.new(app)
      @port = @server.listen("tcp://127.0.0.1:0").port
      @peers = []
      peer.say(GET)
      sleep 0.002 until waits
      Pelton.stop
    end
    @peers.each(&:close)

    assert_nil given
    assert_equal 0, @server.stats[:connections]
  end

  # fork without a block: the child's copy of the handler comes back to its parent's connection.
  def test_a_handler_that_returns_in_a_child_too
    output = ruby_output(<<~'RUBY')
      require "pelton/http"
      $stdout.sync = true
      app = lambda do |env|
        child = fork
        raise "of the child's" if !child && env["PATH_INFO"] == "/raise"
        Process.wait(child) if child
        [200, {"connection" => "close"}, [child ? "parent" : "child" * 20_000]]
      end
      Pelton.on_error { |error| puts "reported: #{error.message}" }
      begin
        Pelton.run do
          server = Pelton::HTTP::Server.new(app)
          port = server.listen("tcp://127.0.0.1:0").port
          ["/", "/raise"].each do |path|
            puts TCPSocket.open("127.0.0.1", port) { |socket|
              socket.write("GET #{path} HTTP/1.1\r\nHost: h\r\n\r\n") && socket.read.split("\r\n\r\n", 2)
            }.last[0, 20]
          end
          Pelton.stop
        end
      rescue Pelton::ClosedError => error
        puts error.message[/\A[^:]*/]
        exit!
      end
    RUBY

    came_back = "a child came back from fork into its parent's reactor\n"
    assert_equal "#{came_back}parent\nreported: of the child's\n#{came_back}parent\n", output
  end

  # Of two answers the first that begins is sent; the other one touches neither it nor the next.
  def test_an_answer_that_is_late_by_the_time_its_parts_are_known
    asked = second = false
    closed = 0
    late = converts(:to_ary) do
      asked = true
      sleep 0.002 until second
      ["late"]
    end
    late.define_singleton_method(:close) { closed += 1 }
    app = lambda do |env|
      next (second = true) && ASYNC if env["PATH_INFO"] == "/2"
      Pelton.spawn { env["async.callback"].call([200, {}, late]) }
      answer_first(env) { asked }
      ASYNC
    end
    serving(app, lint: false) do
      connection = peer

      assert_equal "first", connection.get("/1").body
      connection.say("GET /2 HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until closed == 1

      assert_nil connection.io.read_nonblock(1, exception: false).then { |read| (read == :wait_readable) ? nil : read }
      connection.reset
    end
  end

  # Its reset comes in one event with its request.
  def test_a_client_that_resets_as_soon_as_it_has_asked
    closed = 0
    app = lambda do |env|
      next HELLO.call(env) if env["PATH_INFO"] == "/1"
      env["async.close"].callback { closed += 1 }
      ASYNC
    end
    serving(app, lint: false) do
      connection = peer
      connection.get("/1")
      connection.say("GET /2 HTTP/1.1\nHost: h\n\n").reset
      sleep 0.002 until closed == 1 && server.stats[:connections].zero?

      assert_equal 2, server.stats[:requests]
    end
  end

  def test_a_body_whose_close_waits_and_raises
    body = ["x"].each
    body.define_singleton_method(:close) { sleep(0.005) && raise("late") }
    app = lambda do |env|
      next [200, {}, body] if env["PATH_INFO"] == "/1"
      sleep 0.002 until reported.any?
      [200, {}, ["second"]]
    end
    serving(app, lint: false) do
      connection = peer

      assert_equal %w[x second], [connection.get("/1").body, connection.get("/2").body]
    end
    assert_equal ["late"], reported.map(&:message)
  end

  # ---- what is said in the wrong order, or malformed, leaves nothing behind

  # A body whose close waits outlives its exchange: the connection has the next request, @second, by then. It is
  # answered when the block says so.
  def outlived_by(parts, close)
    body = Object.new
    body.define_singleton_method(:each) { |&block| parts.each(&block) }
    body.define_singleton_method(:close, &close)
    @second = nil
    lambda do |env|
      next [200, {}, body] if env["PATH_INFO"] == "/1"
      @second = env
      sleep 0.002 until yield
      [200, {}, ["second"]]
    end
  end

  # The socket takes little: most of the first response is still in the output when the second request begins.
  def test_a_body_that_raises_after_its_response_takes_nothing_back
    second = -> { @second }
    app = outlived_by(["x" * 10_000] * 6, -> {
      (sleep 0.002 until second.call) ||
          raise("on purpose")
    }) { reported.any? }
    theirs, ours = UNIXSocket.pair
    ours.setsockopt(:SOCKET, :SNDBUF, 1)
    serving(app, lint: false) do
      server.serve(Pelton::Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno))
      connection = Peer.new(theirs).say("GET /1 HTTP/1.1\nHost: h\n\nGET /2 HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until reported.any?

      assert_equal 60_000, connection.response.body.bytesize
      assert_equal "second", connection.response.body
    end
    assert_equal ["on purpose"], reported.map(&:message)
  ensure
    theirs&.close
  end

  def test_a_body_that_is_closed_after_its_response_ends_no_other_exchange
    gone = closed = false
    running = over = nil
    app = outlived_by(["x"], -> { (sleep 0.002 until gone) || (closed = true) }) do
      running = server.stats[:running] if closed
    end
    serving(app, lint: false) do
      connection = peer
      connection.get("/1")
      connection.say("GET /2 HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until @second
      @second["rack.response_finished"] << ->(*) { over = running || :too_early }
      @second["async.close"].callback { gone = true }
      connection.reset
      sleep 0.002 until server.stats[:running].zero? && over
    end
    assert_equal 1, over # when it was over, its handler had returned
  end

  def test_a_body_before_its_head_is_refused
    app = lambda do |env|
      assert_raises(Pelton::Error) { env["async.callback"].write("x") }
      assert_raises(Pelton::Error) { env["async.callback"].finish }
      HELLO.call(env)
    end
    serving(app, lint: false) { assert_equal "hello", peer.get("/").body }
  end

  def test_malformed_hints_are_taken_back
    app = lambda do |env|
      assert_raises(ArgumentError) { env["rack.early_hints"].call("a" => "b", "link" => "a\rb") }
      assert_raises(TypeError) { env["rack.early_hints"].call("a" => "b", "c" => Object.new) }
      HELLO.call(env)
    end
    serving(app, lint: false, early_hints: true) { assert_equal "hello", peer.get("/").body }
  end

  def test_malformed_trailers_are_taken_back
    streaming do |exchange, connection|
      exchange.write("x")
      assert_raises(ArgumentError) { exchange.finish("a" => "b", "c" => "\r\n") }
      assert_raises(TypeError) { exchange.finish(5) }
      exchange.finish("d" => 1)

      assert_equal ["x", {"d" => "1"}], connection.response.to_a.values_at(2, 3)
    end
  end

  def test_a_frozen_env_and_trailers
    app = lambda do |env|
      next HELLO.call(env) if env["REQUEST_METHOD"] == "GET"
      env.freeze
      assert_raises(FrozenError) { env["rack.input"].read }
      [200, {}, ["refused"]]
    end
    serving(app, lint: false) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n", "0\r\nA: b\r\n\r\n")

      assert_equal "refused", connection.response.body
      assert_equal 200, connection.get("/").status
    end
  end

  def test_a_server_that_was_not_set_up
    Pelton.run do
      left, right = UNIXSocket.pair

      assert_raises(Pelton::Error) do
        Pelton::HTTP::Server.allocate.serve(Pelton::Stream.for_fd(left.tap { |io| io.autoclose = false }.fileno))
      end
      right.close
    end
  end

  # Those that wait for a place are told as well.
  def test_a_request_whose_time_is_over_before_it_had_a_place
    gate = Queue.new
    app = lambda do |env|
      gate.pop
      HELLO.call(env)
    rescue Pelton::TimeoutError
      retry
    end
    serving(app, lint: false, concurrency: 1, request_timeout: 0.02) do
      first = peer.say(GET)
      sleep 0.002 until server.stats[:running] == 1

      assert_equal 504, peer.say(GET).response.status
      gate << 1

      assert_equal 200, first.response.status
    end
  end
end
