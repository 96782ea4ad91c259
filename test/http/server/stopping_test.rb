# frozen_string_literal: true

require_relative "../../support/http/peer"

# How a server stops without losing a request; under load, and with several processes:
# test/integration/http_restart_test.rb.
class HTTPStoppingTest < PeltonTest
  include HttpPeer

  def test_it_lets_requests_end_and_closes_idle_connections
    gate = Thread::Queue.new
    serving(->(env) { (env["PATH_INFO"] == "/") ? HELLO.call(env) : [200, {}, [gate.pop]] }) do
      idle = peer
      idle.get("/")
      busy = peer.say("GET /later HTTP/1.1\nHost: h\n\n")
      sleep 0.01 until server.stats[:running] == 1
      stopping = Pelton.spawn { server.stop }

      assert_predicate idle, :ended?
      gate << "done"
      assert_equal "done", busy.response.body
      assert_predicate busy, :ended?
      assert_equal true, stopping.await
      assert_raises(Errno::ECONNREFUSED) { peer }
    end
  end

  def test_it_loses_nobody_who_waits_to_be_accepted
    serving(HELLO) do
      # In one tick
      waiting = Fiber.new(blocking: true) { Array.new(3) { peer.say("GET / HTTP/1.1\nHost: h\n\n") } }.resume
      assert_equal true, server.stop

      assert_equal %w[hello hello hello], waiting.map { |connection| connection.response.body }
    end
  end

  # However long it was idle.
  def test_it_loses_no_request_that_has_come
    serving(HELLO) do
      connections = Array.new(3) { peer.tap { |one| one.get("/") } }
      sleep 1.1 # longer than a client is taken for busy
      Fiber.new(blocking: true) { connections.each { |one| one.say("GET / HTTP/1.1\nHost: h\n\n") } }.resume
      stopping = Pelton.spawn { server.stop }

      assert_equal [%w[hello close]] * 3,
        connections.map { |one| one.response.then { |response| [response.body, response["connection"]] } }
      assert_equal true, stopping.await
    end
  end

  def test_it_answers_what_was_pipelined
    answers = promptly do
      gate = Thread::Queue.new
      serving(->(env) { [200, {}, [gate.pop && env["PATH_INFO"]]] }) do
        connection = peer.say("GET /1 HTTP/1.1\nHost: h\n\n" + "GET /2 HTTP/1.1\nHost: h\n\n")
        sleep 0.005 until server.stats[:running] == 1
        connection.say("GET /3 HTTP/1.1\nHost: h\n\n")
        Pelton.spawn { server.stop }
        Pelton.next_tick { 3.times { gate << true } }
        Array.new(3) { connection.response }
      end
    end

    assert_equal [["/1", nil], ["/2", nil], ["/3", "close"]],
      answers.map { |response| [response.body, response["connection"]] }
  end

  # The client is told that the connection ends, whatever the application says of it.
  def test_it_is_told_beside_the_applications_own_header
    gate = Thread::Queue.new
    serving(->(_env) { [200, {"connection" => "keep-alive"}, [gate.pop]] }) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      sleep 0.005 until server.stats[:running] == 1
      stopping = Pelton.spawn { server.stop }
      Pelton.next_tick { gate << "done" }

      assert_equal %w[keep-alive close], connection.response["connection"]
      assert_equal true, stopping.await
    end
  end

  # Such as a browser's that connects ahead.
  def test_it_does_not_wait_long_for_those_who_say_nothing
    serving(HELLO, header_timeout: nil) do
      silent = peer

      assert_equal true, server.stop
      assert_predicate silent, :ended?
    end
  end

  # The next request of a client that was busy may be on its way: it is answered, for the last time. However long its
  # last one took.
  def test_it_loses_no_request_of_a_busy_client
    [0, 1.1].each do |time|
      response = promptly do |started|
        app = lambda do |env|
          sleep time if env["PATH_INFO"] == "/slow"
          started.call
          HELLO.call(env)
        end
        serving(app) do
          connection = peer
          connection.get("/slow")
          Pelton.spawn { server.stop }
          sleep 0.02
          connection.get("/").tap { assert_predicate connection, :ended? }
        end
      end

      assert_equal "hello", response.body, time
      assert_equal "close", response["connection"], time
    end
  end

  def test_it_loses_no_connection_that_was_accepted
    serving(HELLO) do
      # in one tick
      waiting = Fiber.new(blocking: true) { Array.new(3) { peer.say("GET / HTTP/1.1\nHost: h\n\n") } }.resume
      Pelton::Reactor.current.yield while server.listeners.sum { |listener| listener.stats[:accepted] } < 3
      assert_equal 0, server.stats[:accepted]

      assert_equal true, server.stop
      assert_equal 3, server.stats[:requests]
      assert_equal %w[hello hello hello], waiting.map { |connection| connection.response.body }
    end
  end

  # By Pelton.stop. What was listed for the reactor's stop must not be forgotten: the next run would wait for it.
  def test_the_reactor_stops_while_an_application_waits
    {"never" => nil, "put off" => [-1, {}, []], "given" => [200, {}, ["x" * 5_000_000]]}.each do |name, answer|
      grace = answer ? PeltonTest.deadline : 0.01 # seconds
      app = lambda do |_env|
        Pelton.stop
        sleep
      rescue Pelton::Cancelled
        answer || retry
      end
      client = nil
      _, err = capture_io do
        Pelton.run(grace: grace) do
          @server = Pelton::HTTP::Server.new(app)
          client = TCPSocket.new("127.0.0.1", server.listen("tcp://127.0.0.1:0").port)
          client.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
          sleep
        end
      end

      assert_equal (name == "never") ? 1 : 0, err.scan("were ended").size, err
      assert_equal [0, 0], server.stats.values_at(:connections, :running), name
      assert_equal name, Pelton.run { name }
    ensure
      client&.close
    end
  end

  def test_a_socket_whose_close_waits_is_closed_once
    gate = Thread::Queue.new
    calls = []
    socket = Object.new
    socket.define_singleton_method(:close) { |*arguments| calls << arguments && gate.pop }
    serving(HELLO) do
      attachment = server.attach(socket)
      assert_equal false, server.stop(timeout: 0.05)
      attachment.detach

      assert_equal true, server.stop
      assert_equal [[1001, "the server stops"]], calls
      gate << true
    end
  end

  # ---- event streams

  EVENTS = {"content-type" => "text/event-stream; charset=utf-8"}.freeze
  WAKE = Thread::Queue.new

  # What makes them: EventStream, a body that is called, one with each, a Deferrable, one that frames itself.
  BODIES = {
    "an_event_stream" => [{},
      -> { Pelton::HTTP::EventStream.new { |events| loop { events.emit("x") && sleep(0.001) } } }],
    "an_event_stream_that_waits" => [{},
      -> { Pelton::HTTP::EventStream.new { |events| events.emit("x") && WAKE.pop && events.emit("y") } }],
    "a_stream" => [{}, -> { ->(stream) { loop { stream.write("data: x\n\n") && sleep(0.001) } } }],
    "parts" => [{}, -> { Enumerator.new { |parts| loop { (parts << "data: x\n\n") && sleep(0.001) } } }],
    "own_chunks" => [
      {"transfer-encoding" => "chunked"},
      -> { Enumerator.new { |parts| loop { (parts << "9\r\ndata: x\n\n\r\n") && sleep(0.001) } } }
    ]
  }.freeze

  BODIES.each do |name, (headers, make)|
    define_method("test_event_streams_are_ended_#{name}") do
      serving(->(_env) { [200, EVENTS.merge(headers), make.call] }, lint: name.start_with?("an_event")) do
        connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
        eventually { server.stats[:running] == 1 }
        connection.io.readpartial(1)
        stopping = Pelton.spawn { server.stop }
        rest = connection.io.read

        assert_equal true, stopping.await
        assert_operator rest, :end_with?, "0\r\n\r\n" unless headers.any?
        assert_includes rest, "data: x\n\n"
        WAKE << true if WAKE.num_waiting.positive?
      end
      assert_empty reported
    end
  end

  def test_event_streams_of_version_1_0_are_ended
    serving(->(_env) { [200, EVENTS.dup, BODIES["an_event_stream"].last.call] }) do
      connection = peer.say("GET / HTTP/1.0\n\n")
      eventually { server.stats[:running] == 1 }
      stopping = Pelton.spawn { server.stop }

      assert_match(/data: x\n\n\z/, connection.io.read)
      assert_equal true, stopping.await
    end
  end

  # Its maker is told, as when its client is gone.
  def test_event_streams_that_are_deferrable_fail
    body = Class.new do
      include Pelton::Deferrable

      def each(&block) = @block = block

      def emit(text) = @block.call(text)
    end.new
    failed = told = nil
    body.errback { failed = true }
    app = lambda do |env|
      env["rack.response_finished"] << ->(_env, _status, _headers, error) { told = error }
      [200, EVENTS.dup, body]
    end
    serving(app, lint: false) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      eventually { server.stats[:running] == 1 }
      body.emit("data: x\n\n")

      assert_equal true, server.stop
      assert_operator connection.io.read, :end_with?, "data: x\n\n\r\n0\r\n\r\n"
    end
    assert_equal true, failed
    assert_equal Pelton::ClosedError, told.class
    assert_equal [], reported
  end

  def test_an_event_stream_that_begins_while_the_server_stops_is_ended
    gate = Thread::Queue.new
    serving(->(_env) { gate.pop && [200, EVENTS.dup, BODIES["an_event_stream"].last.call] }) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      eventually { server.stats[:running] == 1 }
      stopping = Pelton.spawn { server.stop }
      Pelton.next_tick { gate << true }

      assert_operator connection.response.body, :start_with?, "data: x"
      assert_equal true, stopping.await
    end
  end

  # What was sent by POST cannot be asked for twice, and what says how long it is has an end of its own.
  def test_other_streams_are_let_end
    {"POST" => EVENTS, "GET" => EVENTS.merge("content-length" => "3")}.each do |verb, headers|
      gate = Thread::Queue.new
      serving(->(_env) { [200, headers.dup, ->(stream) { 3.times { stream.write(gate.pop) } && stream.close }] }) do
        connection = peer.say("#{verb} / HTTP/1.1\nHost: h\n\n")
        eventually { server.stats[:running] == 1 }
        stopping = Pelton.spawn { server.stop }
        eventually { server.listeners.empty? }
        3.times { |number| gate << number.to_s }

        assert_equal "012", connection.response.body
        assert_equal true, stopping.await
      end
      assert_empty reported
    end
  end

  def test_an_event_stream_that_has_ended_is_forgotten
    serving(->(_env) { [200, EVENTS.dup, Pelton::HTTP::EventStream.new { |events| events.emit("x") }] }) do
      connection = peer
      2.times { assert_equal "data: x\n\n", connection.get("/").body }

      assert_equal true, server.stop
    end
  end

  def test_it_gives_up_after_a_time
    gate = Thread::Queue.new
    serving(->(_env) { [200, {}, [gate.pop]] }) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      sleep 0.01 until server.stats[:running] == 1

      assert_equal false, server.stop(timeout: 0.02)
      gate << "hello"
      assert_equal "hello", connection.response.body
    end
  end

  # What is under way is over then.
  def test_those_who_want_to_know_of_the_end_are_told_when_the_reactor_stops
    told = []
    app = lambda do |env|
      env["rack.response_finished"] << ->(_env, _status, _headers, error) { told << error.class }
      env["async.close"].callback { told << :closed }
      [-1, {}, []]
    end
    Pelton.run do
      @server = Pelton::HTTP::Server.new(app)
      @port = @server.listen("tcp://127.0.0.1:0").port
      @peers = []
      peer.say("GET / HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until server.stats[:running] == 1
      Pelton.stop
    end
    @peers.each(&:close)

    assert_equal [:closed, Pelton::ClosedError], told
  end

  private

  # What a client does within a second of its last response is what the server has promised to wait for. Where that took
  # longer, because the machine is busy, it is tried again; the block may say when the second begins.
  def promptly
    loop do
      began = now
      result = begin
        yield -> { began = now }
      rescue SystemCallError, EOFError
        raise if now - began < 1
      end
      return result if now - began < 1
    end
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
