# frozen_string_literal: true

require_relative "../../support/http/peer"

# Limits: of time, of requests at once, of descriptors.
class HTTPOverloadTest < PeltonTest
  include HttpPeer

  REQUEST = "GET / HTTP/1.1\nHost: h\n\n"

  # An application whose requests wait until they are let go.
  def gate
    @gate = Queue.new
    lambda do |env|
      @gate.pop
      HELLO.call(env)
    end
  end

  # Runs the block while a client sends the piece again and again.
  def trickling(connection, piece)
    task = Pelton.spawn do
      loop { connection.io.write(piece) && sleep(0.005) }
    rescue SystemCallError
      nil
    end
    yield
    task.cancel
  end

  def test_requests_beyond_the_limit_wait_for_a_place_and_then_are_refused
    serving(gate, concurrency: 1, queue: 1) do
      first, second, third = Array.new(3) do
        peer.say(REQUEST).tap { |one| sleep 0.005 until server.stats[:requests] == @peers.index(one) + 1 }
      end

      assert_equal [1, 1], server.stats.values_at(:running, :waiting)
      refused = third.response

      assert_equal 503, refused.status
      assert_equal "1", refused["retry-after"]
      @gate << 1
      @gate << 1

      assert_equal %w[hello hello], [first, second].map { |one| one.response.body }
      @gate << 1

      assert_equal "hello", third.say(REQUEST).response.body
      assert_equal 1, server.stats[:overloads]
    end
  end

  def test_a_client_that_leaves_gives_its_place_in_the_queue_up
    serving(gate, concurrency: 1) do
      first, second, third = Array.new(3) { peer.say(REQUEST) }
      sleep 0.002 until server.stats[:waiting] == 2
      second.reset
      sleep 0.002 until server.stats[:waiting] == 1
      2.times { @gate << 1 }

      assert_equal %w[hello hello], [first, third].map { |one| one.response.body }
    end
  end

  def test_a_client_that_says_nothing
    serving(HELLO, header_timeout: 0.02) do
      assert_predicate peer, :ended?
    end
  end

  # A byte now and then does not help.
  def test_a_head_that_does_not_end
    serving(HELLO, header_timeout: 0.1) do
      connection = peer.say("GET / HTTP/1.1\n")

      trickling(connection, "A: b\r\n") { assert_equal 408, connection.response.status }
    end
  end

  def test_an_idle_connection
    serving(HELLO, idle_timeout: 0.02) do
      connection = peer
      connection.get("/")

      assert_predicate connection, :ended?
    end
  end

  def test_a_request_that_takes_too_long
    ensured = 0
    app = lambda do |env|
      (env["PATH_INFO"] == "/") ? sleep : throw(:async)
    ensure
      ensured += 1
    end
    serving(app, lint: false, request_timeout: 0.02) do
      assert_equal 504, peer.get("/").status
      assert_equal 504, peer.get("/async").status
    end
    assert_equal 2, ensured
  end

  # Its time is until the response begins.
  def test_a_response_that_takes_long_is_not_late
    streaming = proc do |stream|
      2.times { sleep(0.03) && stream.write("a") }
      stream.close
    end
    each = Enumerator.new { |parts| 2.times { sleep(0.03) && parts << "a" } }
    serving(->(env) { [200, {}, (env["PATH_INFO"] == "/each") ? each : streaming] }, request_timeout: 0.02) do
      connection = peer

      assert_equal %w[aa aa], [connection.get("/each").body, connection.get("/stream").body]
    end
  end

  def test_a_client_that_does_not_read
    closed = false
    body = Object.new
    body.define_singleton_method(:each) { |&block| loop { block.call("x" * 100_000) } }
    body.define_singleton_method(:close) { closed = true }
    serving(->(env) { [200, {}, (env["PATH_INFO"] == "/each") ? body : ["x" * 20_000_000]] }, write_timeout: 0.05,
      idle_timeout: 0.05) do
      peer.say("GET /each HTTP/1.1\nHost: h\n\n")
      peer.say(REQUEST)
      sleep 0.005 until closed && server.stats[:connections].zero?
    end
  end

  # Nor does a task that fails by it say that the response is over.
  def test_a_client_that_does_not_read_a_stream
    body = proc { |stream| Pelton.spawn(detached: true) { loop { stream.write("x" * 100_000) } } }
    serving(->(_env) { [200, {}, body] }, write_timeout: 0.05) do
      peer.say(REQUEST)
      sleep 0.005 until reported.any? && server.stats[:connections].zero?
    end
    assert_equal [Pelton::TimeoutError], reported.map(&:class)
  end

  def test_a_connection_has_so_many_requests
    serving(HELLO, max_requests: 2) do
      connection = peer

      assert_equal [nil, "close"], Array.new(2) { connection.get("/")["connection"] }
      assert_predicate connection, :ended?
    end
  end

  # A greedy client's requests and another one's take turns (puma CVE-2019-16770).
  def test_a_client_with_many_requests_starves_nobody
    order = []
    app = lambda do |env|
      order << env["PATH_INFO"]
      HELLO.call(env)
    end
    serving(app) do
      greedy = peer.say("GET /greedy HTTP/1.1\nHost: h\n\n" * 1000)
      other = peer.say("GET /other HTTP/1.1\nHost: h\n\n")
      other.response
      1000.times { greedy.response }
    end
    assert_operator order.index("/other"), :<, 900
  end

  # What is not read is not answered on and on: its requests stay where they are.
  def test_a_client_with_many_requests_that_reads_no_answers
    serving(->(_env) { [200, {}, ["x" * 10_000]] }) do
      greedy = peer
      greedy.io.setsockopt(:SOCKET, :RCVBUF, 4096)
      flood = Pelton.spawn { greedy.io.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n" * 300_000) }
      before = nil
      sleep 0.05 until before == (before = server.stats[:requests]) && before > 0

      assert_operator server.stats[:requests], :<, 10_000
      assert_equal 10_000, peer.get("/").body.bytesize
      flood.cancel
    end
  end

  # Clients in processes of their own, which always have more to read from, or always read all: no call ever waits for
  # them.
  RESTLESS = {
    "a body of tiny chunks" => ["POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
      "socket.write(#{"1\r\nx\r\n".dump} * 100_000)"],
    "a body without an end" => ["POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000000\r\n\r\n",
      "socket.write(%(x) * 1_000_000)"],
    "a response without an end" => ["GET /endless HTTP/1.1\r\nHost: h\r\n\r\n", "socket.readpartial(1_000_000)"]
  }.freeze

  RESTLESS.each do |name, (head, forever)|
    define_method("test_#{name.tr(" ", "_")}_starves_nobody") do
      enough = false
      app = lambda do |env|
        env["rack.input"].each_part { break if enough }
        [200, {},
          (env["PATH_INFO"] == "/endless") ? Enumerator.new { |parts| parts << "x" * 100 until enough } : ["hello"]]
      end
      serving(app, lint: false) do
        code = "socket = TCPSocket.new('127.0.0.1', #{@port}); socket.write(#{head.dump}); loop { #{forever} }"
        client = Process.spawn(RbConfig.ruby, "-rsocket", "-e", code, err: File::NULL)
        sleep 0.002 until server.stats[:running] == 1

        assert_equal ["hello"], Array.new(20) { peer.get("/").body }.uniq
        assert_equal [1, 0], server.stats.values_at(:running, :refused) # it is still at it
      ensure
        enough = true # what is on its way is much for a slow machine
        Process.kill(:KILL, client)
        Process.wait(client)
      end
    end
  end

  # A byte now and then: the time for each piece begins anew, but the request as a whole has an end.
  def test_a_body_that_trickles
    serving(->(env) { [200, {}, [env["rack.input"].read]] }, header_timeout: 10, request_timeout: 0.1) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 100000\n\n")

      trickling(connection, "x") { assert_equal 504, connection.response.status }
    end
  end

  # The longest idle connections are closed for new ones.
  def test_running_out_of_descriptors
    skip "valgrind sets no limits" if VALGRIND
    output = ruby_output(<<~RUBY)
      require "pelton/http"
      require "socket"
      Process.setrlimit(:NOFILE, 64, 1024)
      Pelton.run do
        server = Pelton::HTTP::Server.new(->(_env) { [200, {}, ["hello"]] })
        port = server.listen("tcp://127.0.0.1:0").port
        parent, child = UNIXSocket.pair
        fork do
          Process.setrlimit(:NOFILE, 1024)
          sockets = Array.new(100) do
            TCPSocket.new("127.0.0.1", port).tap do |socket|
              socket.write("GET / HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n")
              socket.readpartial(1000)
            end
          end
          child.write(sockets.size.to_s)
          exit!
        end
        child.close
        puts parent.read
        puts server.listeners.first.stats[:pauses]
        server.stop
      end
    RUBY
    assert_equal %w[100 0], output.split
  end
end
