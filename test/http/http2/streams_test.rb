# frozen_string_literal: true

require_relative "../../support/http/http2_peer"

# Streams share a connection: windows, cancelled requests, the server's stop.
class Http2StreamsTest < PeltonTest
  include Http2Peers

  F = Http2Peer
  SMALL_WINDOW = {4 => 1000}.freeze # SETTINGS_INITIAL_WINDOW_SIZE

  # ---- windows -------------------------------------------------------------------------------------------------------

  def test_a_response_waits_for_its_window
    serving(->(_env) { [200, {}, ["a" * 2500]] }) do
      client = http2(settings: SMALL_WINDOW)
      stream = client.request
      received = client.receive_until(:data).payload.bytesize
      client.open_window(stream, 1500)

      assert_equal 1000, received
      assert_equal 2500, client.response(stream).body.bytesize
    end
  end

  def test_a_stream_without_a_window_holds_up_itself_alone
    serving(->(env) { [200, {}, [(env["PATH_INFO"] == "/large") ? "a" * 2000 : "b"]] }) do
      client = http2(settings: SMALL_WINDOW)
      large = client.request("/large")

      assert_equal "b", client.get("/small").body
      client.open_window(large, 1000)

      assert_equal 2000, client.response(large).body.bytesize
    end
  end

  def test_a_window_that_a_setting_opens
    serving(->(_env) { [200, {}, ["a" * 2500]] }) do
      client = http2(settings: SMALL_WINDOW)
      stream = client.request
      client.receive_until(:data)
      client.write(F.settings(4 => 3000))

      assert_equal 2500, client.response(stream).body.bytesize
    end
  end

  # RFC 9218: the smaller number goes first.
  def test_what_is_urgent_goes_first
    serving(->(_env) { [200, {}, ["a" * 1000]] }) do
      client = http2(settings: {4 => 0})
      streams = [7, 0, 3].map { |urgency| client.request("/", fields: {"priority" => "u=#{urgency}"}) }
      eventually("the responses") { @server.stats[:responses]["2xx"] == 3 }
      client.write(F.settings(4 => 1000))

      assert_equal streams.values_at(1, 2, 0), Array.new(3) { client.receive_until(:data).stream }
    end
  end

  def test_a_body_that_is_written_waits_for_the_window
    written = 0
    body = lambda do |stream|
      10.times do
        stream.write("a" * 30_000)
        written += 1
      end
      stream.close
    end
    serving(->(_env) { [200, {}, body] }, lint: false) do
      client = http2(settings: SMALL_WINDOW)
      stream = client.request
      client.receive_until(:data)
      before = written
      client.open_window(stream, 400_000)
      client.open_window(0, 400_000)

      assert_operator before, :<, 5
      assert_equal 300_000, client.response(stream).body.bytesize
    end
    assert_equal 10, written
  end

  def test_a_body_that_nobody_reads_fills_its_window_alone
    read = Queue.new
    app = lambda do |env|
      read.pop if env["PATH_INFO"] == "/unread"
      [200, {}, [env["rack.input"].read.bytesize.to_s]]
    end
    serving(app, stream_window: 50_000) do
      client = http2
      client.receive_until(:settings)
      unread = client.request("/unread", method: "POST", ended: false)
      3.times { client.frame(:data, unread, "a" * 16_000) }

      assert_equal "40000", upload(client, 40_000)
      assert_equal "40000", upload(client, 40_000)
      client.frame(:data, unread, "", flags: F::END_STREAM)
      read << true

      assert_equal "48000", client.response(unread).body
    end
  end

  def upload(client, bytes)
    stream = client.request("/read", method: "POST", ended: false)
    (bytes / 10_000).times do |i|
      client.frame(:data, stream, "b" * 10_000, flags: (i + 1 == bytes / 10_000) ? F::END_STREAM : 0)
    end
    client.response(stream).body
  end

  def test_the_window_opens_as_the_application_reads
    serving(->(env) { [200, {}, [env["rack.input"].read.bytesize.to_s]] }, stream_window: 10_000) do
      client = http2
      client.receive_until(:settings)
      stream = client.request("/", method: "POST", ended: false)
      20.times do
        client.frame(:data, stream, "a" * 10_000)
        client.receive_until(:window_update, stream: stream)
      end
      client.frame(:data, stream, "", flags: F::END_STREAM)

      assert_equal "200000", client.response(stream).body
    end
  end

  def test_a_response_before_the_end_of_the_request
    serving(HELLO) do
      client = http2
      stream = client.request("/", method: "POST", ended: false)

      assert_equal "hello", client.response(stream).body
      assert_equal :no_error, client.receive_until(:rst_stream).error
    end
  end

  # ---- limits --------------------------------------------------------------------------------------------------------

  def test_streams_beyond_the_most_end_the_connection
    released = Queue.new
    serving(->(_env) { released.pop && [200, {}, []] }, max_streams: 2) do
      client = http2
      client.receive_until(:settings)
      client.receive_until(:settings)
      3.times { client.request }

      assert_equal :protocol_error, client.end_of_connection
      2.times { released << true }
    end
  end

  def test_requests_wait_for_a_slot
    released = Queue.new
    serving(->(env) { released.pop && [200, {}, [env["PATH_INFO"]]] }, concurrency: 1, queue: 1) do
      client = http2
      streams = %w[/1 /2 /3].map { |path| client.request(path) }

      assert_equal 503, client.response(streams[2]).status
      2.times { released << true }

      assert_equal "/1", client.response(streams[0]).body
      assert_equal "/2", client.response(streams[1]).body
    end
  end

  def test_a_late_request
    serving(->(_env) { sleep }, request_timeout: 0.01) { assert_equal 504, http2.get.status }
    assert_empty reported
  end

  def test_a_body_that_does_not_come
    serving(->(env) { [200, {}, [env["rack.input"].read]] }, header_timeout: 0.02) do
      client = http2

      assert_equal 408, client.response(client.request("/", method: "POST", ended: false)).status
      assert_equal 408, client.response(client.request("/", method: "POST", ended: false)).status
    end
  end

  def test_a_client_that_opens_no_window
    serving(->(_env) { [200, {}, ["a" * 2000]] }, write_timeout: 0.02) do
      client = http2(settings: SMALL_WINDOW)

      assert_equal :cancel, client.get.error
    end
  end

  def test_a_client_that_reads_nothing
    serving(->(_env) { [200, {}, ["a" * 5_000_000]] }, write_timeout: 0.02, idle_timeout: 0.02) do
      client = http2(settings: {4 => 10_000_000})
      client.open_window(0, 100_000_000)
      3.times { client.request }

      eventually("the connection's end") { @server.stats.values_at(:accepted, :connections) == [1, 0] }
    end
  end

  def test_a_connection_without_requests
    serving(HELLO, idle_timeout: 0.02) do
      client = http2
      client.get

      assert_equal :no_error, client.end_of_connection
    end
  end

  def test_a_connection_with_a_request_is_not_idle
    gate = Thread::Queue.new
    serving(->(_env) { gate.pop && [200, {}, ["x"]] }) do
      client = http2
      stream = client.request
      eventually("the request") { gate.num_waiting == 1 }
      idle = [@server.stats[:idle]]
      gate << true
      client.response(stream)
      idle << eventually("the end") { @server.stats[:idle] if @server.stats[:idle] > 0 }

      assert_equal [0, 1], idle
    end
  end

  def test_a_head_that_does_not_end
    serving(HELLO, header_timeout: 0.02) do
      client = http2
      2.times { client.receive_until(:settings) } # nothing may come between the frames of a head
      client.frame(:headers, 1, Hpack.block(":method" => "GET"))

      assert_equal :no_error, client.end_of_connection
      assert_equal 1, @server.stats[:refused]
    end
  end

  def test_requests_of_one_connection_are_limited
    serving(HELLO, max_requests: 2) do
      client = http2

      assert_equal [200, 200], Array.new(2) { client.get.status }
      assert_equal :no_error, client.end_of_connection
    end
  end

  # ---- cancelled requests --------------------------------------------------------------------------------------------

  def test_a_cancelled_request_is_noticed
    closed = Queue.new
    released = Queue.new
    app = lambda do |env|
      env["async.close"].callback { closed << true }
      released.pop
      [200, {}, ["nobody gets this"]]
    end
    serving(app) do
      client = http2
      stream = client.request
      eventually("the request") { @server.stats[:running] == 1 }
      client.frame(:rst_stream, stream, "\0\0\0\x08")

      assert closed.pop
      released << true
      assert_equal 1, @server.stats[:http2_resets]
      eventually("the request's end") { @server.stats[:running].zero? }
      assert_equal 1, @server.stats[:connections]
    end
  end

  def test_a_body_is_closed_when_its_client_cancels
    closed = Queue.new
    body = Object.new
    body.define_singleton_method(:each) { |&block| loop { block.call("a" * 10_000) } }
    body.define_singleton_method(:close) { closed << true }
    serving(->(_env) { [200, {}, body] }, lint: false) do
      client = http2(settings: SMALL_WINDOW)
      stream = client.request
      client.receive_until(:data)
      client.frame(:rst_stream, stream, "\0\0\0\x08")

      assert closed.pop
    end
    assert_empty reported
  end

  def test_a_client_that_leaves
    closed = Queue.new
    serving(->(env) { env["async.close"].callback { closed << true } && sleep(0.01) && [200, {}, []] }) do
      client = http2
      3.times { client.request }
      eventually("the requests") { @server.stats[:running] == 3 }
      client.close

      3.times { assert closed.pop }
      eventually("the connection's end") { @server.stats[:connections].zero? }
    end
  end

  # ---- the server's stop ---------------------------------------------------------------------------------------------

  def test_the_stop_names_the_last_stream
    released = Queue.new
    serving(->(_env) { released.pop && [200, {}, ["late"]] }) do
      client = http2
      stream = client.request
      eventually("the request") { @server.stats[:running] == 1 }
      stopping = Pelton.spawn { @server.stop(timeout: 10) }
      notice = client.receive_until(:goaway)
      later = client.request # it was sent before the client knew
      last = client.receive_until(:goaway)
      2.times { released << true }

      assert_equal 0x7fffffff, notice.last_stream
      assert_equal later, last.last_stream
      assert_equal "late", client.response(stream).body
      assert_equal "late", client.response(later).body
      assert_equal :no_error, client.end_of_connection || :no_error
      client.close

      assert stopping.await
    end
  end

  def test_the_stop_ends_idle_connections
    serving(HELLO) do
      client = http2
      client.get
      stopping = Pelton.spawn { @server.stop(timeout: 10) }

      assert_equal :no_error, client.end_of_connection
      client.close

      assert stopping.await
    end
  end

  def test_an_application_that_the_reactor_cancels_may_still_answer
    reader = nil
    app = lambda do |_env|
      sleep
    rescue Pelton::Cancelled
      [200, {}, ["late"]]
    end
    Pelton.run do
      server = Pelton::HTTP::Server.new(app)
      port = server.listen("tcp://127.0.0.1:0").port
      reader = Thread.new { Http2Peer.new(TCPSocket.new("127.0.0.1", port)).get.body }
      eventually("the request") { server.stats[:running] == 1 }
      Pelton.stop
    end

    assert_equal "late", reader.value
  end

  def test_the_stop_ends_event_streams
    body = lambda do |stream|
      stream.write("data: 1\n\n")
      sleep
    ensure
      stream.close
    end
    serving(->(_env) { [200, {"content-type" => "text/event-stream"}, body] }, lint: false) do
      client = http2
      stream = client.request
      client.receive_until(:data)
      stopping = Pelton.spawn { @server.stop(timeout: 10) }

      assert_equal "data: 1\n\n", client.response(stream).body
      assert_equal :no_error, client.end_of_connection
      client.close

      assert stopping.await
      Pelton.stop
    end
  end
end
