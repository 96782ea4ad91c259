# frozen_string_literal: true

require_relative "../support/http/peer"

class HTTPInputTest < PeltonTest
  include HttpPeer

  ECHO = ->(env) { [200, {}, [env["rack.input"].read]] }

  def post(body, headers = "Content-Length: #{body.bytesize}\n")
    peer.say("POST / HTTP/1.1\nHost: h\n#{headers}\n", body)
  end

  def test_bodies_of_a_known_length
    serving(ECHO) do
      connection = post("hello")

      assert_equal "hello", connection.response.body
      assert_equal "", connection.say("POST / HTTP/1.1\nHost: h\nContent-Length: 0\n\n").response.body
      assert_equal "", connection.say("GET / HTTP/1.1\nHost: h\n\n").response.body
    end
  end

  def test_chunked_bodies_and_their_trailers
    trailers = nil
    app = lambda do |env|
      ECHO.call(env).tap { trailers = env["pelton.trailers"] }
    end
    serving(app) do
      response = post("5\r\nhello\r\n1;x=y\r\n!\r\n0\r\nDigest: 7\r\n\r\n", "Transfer-Encoding: chunked\n").response

      assert_equal "hello!", response.body
    end
    assert_equal({"digest" => "7"}, trailers)
  end

  def test_a_large_body_arrives_whole
    body = Random.new(1).bytes(3_000_000)
    serving(ECHO) { assert_equal body, post(body).response.body }
  end

  # The application is called as soon as the head is there.
  def test_a_body_is_read_while_it_comes
    parts = []
    app = lambda do |env|
      env["rack.input"].each { |line| parts << line }
      [200, {}, [parts.join]]
    end
    serving(app) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 9\n\n")
      %W[a\n bc\n def\n].each_with_index do |line, index|
        connection.say("", line)
        sleep 0.002 until parts.size == index + 1 || index == 2
      end

      assert_equal "a\nbc\ndef\n", connection.response.body
    end
    assert_equal %W[a\n bc\n def\n], parts
  end

  def test_reading_in_pieces
    seen = []
    app = lambda do |env|
      input = env["rack.input"]
      buffer = +"x"
      seen << input.read(0) << input.read(2) << input.read(3,
        buffer) << buffer << input.gets << input.gets << input.read(100) <<
        input.read(1) << input.read << input.gets
      [200, {}, []]
    end
    serving(app, lint: false) { post("ab123line\nnext\nrest").response }

    assert_equal ["", "ab", "123", "123", "line\n", "next\n", "rest", nil, "", nil], seen
  end

  def test_a_read_waits_for_no_more_than_it_needs
    seen = []
    app = lambda do |env|
      seen << env["rack.input"].read(2)
      seen << env["rack.input"].read
      [200, {}, []]
    end
    serving(app) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 4\n\n", "ab")
      sleep 0.002 until seen.any?
      connection.say("", "cd").response
    end

    assert_equal %w[ab cd], seen
  end

  def test_partial_reads_end_with_an_error
    seen = []
    app = lambda do |env|
      seen << env["rack.input"].readpartial(2) << env["rack.input"].readpartial(10)
      env["rack.input"].readpartial(1)
    rescue EOFError
      [200, {}, seen]
    end
    serving(app, lint: false) { assert_equal "abc", post("abc").response.body }
    assert_equal %w[ab c], seen
  end

  def test_a_client_that_waits_for_100_is_told_to_continue_when_the_body_is_read
    serving(ECHO) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 2\nExpect: 100-continue\n\n")

      assert_equal 100, connection.response.status
      assert_equal "ok", connection.say("", "ok").response.body
      assert_equal "hi", connection.say("POST / HTTP/1.1\nHost: h\nContent-Length: 2\n\n", "hi").response.body
    end
  end

  def test_it_is_told_so_once
    serving(ECHO) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\nExpect: 100-continue\n\n")

      assert_equal 100, connection.response.status
      %W[1 \r\n].each { |piece| connection.say("", piece).then { 3.times { sleep 0.001 } } } # the server looks at each
      assert_equal "a", connection.say("", "a\r\n0\r\n\r\n").response.body
    end
  end

  # Whether it would still come is not known: so nothing can follow.
  def test_a_client_whose_body_nobody_wants_is_not_told_to_continue
    serving(HELLO) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 2\nExpect: 100-continue\n\n")
      response = connection.response

      assert_equal 200, response.status
      assert_equal "close", response["connection"]
      assert_predicate connection, :ended?
    end
  end

  # Its connection is not closed before it has sent all: a reset could overtake the response.
  def test_what_comes_after_the_last_response_is_dropped
    serving(HELLO) do
      connection, other = peer, peer
      connection.say("POST / HTTP/1.1\nHost: h\nContent-Length: 2\nExpect: 100-continue\n\n")
      2.times do
        connection.say("", "x")
        2.times { other.get("/") } # so the server has had time for it

        assert_equal 2, server.stats[:connections]
      end
      assert_equal "hello", connection.response.body
    end
  end

  def test_what_the_application_did_not_read_is_dropped
    serving(HELLO) do
      connection = post("x" * 100_000)

      assert_equal "hello", connection.response.body
      assert_equal "hello", connection.get("/").body
      assert_equal 1, server.stats[:accepted]
    end
  end

  def test_requests_behind_a_body_that_nobody_read
    serving(HELLO) do
      bytes =
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n#{"x" * 100_000}" * 3 +
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
      connection = peer
      sender = Pelton.spawn do
        connection.io.write(bytes.byteslice(0, 150_000))
        sleep 0.005 until server.stats[:requests] == 2
        connection.io.write(bytes.byteslice(150_000..))
      end

      assert_equal ["hello"] * 4, Array.new(4) { connection.response.body }
      sender.await
    end
  end

  def test_an_endless_body_that_nobody_reads_ends_the_connection
    serving(HELLO) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 1000000000\n\n")

      assert_equal "hello", connection.response.body
      assert_raises(Errno::EPIPE, Errno::ECONNRESET) { loop { connection.io.write("x" * 65_536) } }
    end
  end

  def test_a_client_that_leaves_within_its_body
    error = nil
    app = lambda do |env|
      env["rack.input"].read
    rescue Pelton::ClosedError => error
      [200, {}, []]
    end
    serving(app) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 9\n\n", "abc")
      sleep 0.005 until server.stats[:running] == 1
      connection.close
      sleep 0.005 until error
    end
    assert_kind_of Pelton::ClosedError, error
  end

  def test_a_body_beyond_the_limit
    serving(ECHO, max_body: 5) do
      assert_equal 413, post("123456").response.status
      assert_equal 413, post("6\r\n123456\r\n0\r\n\r\n", "Transfer-Encoding: chunked\n").response.status
      assert_equal "12345", post("12345").response.body
    end
  end

  # Nothing is reported, but what the application has made of it.
  # That is no failure of the application.
  def test_a_client_that_resets_within_its_body
    reads = false
    serving(->(env) { (reads = true) && [200, {}, [env["rack.input"].read]] }, lint: false) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 5\n\n")
      sleep 0.002 until reads
      connection.reset
      sleep 0.002 until server.stats[:connections].zero?

      assert_equal 0, server.stats[:errors]
    end
  end

  def test_an_error_of_the_application_within_a_malformed_body_is_its_own
    app = lambda do |env|
      env["rack.input"].read
    rescue Pelton::ProtocolError
      raise "mine"
    end
    serving(app) { assert_equal 500, post("nonsense\r\n", "Transfer-Encoding: chunked\n").response.status }

    assert_equal ["mine"], reported.map(&:message)
  end

  def test_a_body_that_does_not_come_in_time
    serving(ECHO, header_timeout: 0.05) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 9\n\n", "abc")

      assert_equal 408, connection.response.status
      assert_predicate connection, :ended?
    end
  end

  # A byte now and then does not help.
  def test_a_body_that_trickles
    serving(ECHO, header_timeout: 0.1, body_rate: 1_000_000) do
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 1000\n\n")
      trickle(connection, 1000, 0.01)

      assert_equal 408, connection.response.status
      assert_predicate connection, :ended?
    end
  end

  def test_a_body_that_keeps_its_rate
    in_time do |time|
      serving(ECHO, header_timeout: time, body_rate: 1) do
        connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 103\n\n", "x" * 100)
        trickle(connection, 3, time * 0.4)
        connection.response.status == 200
      end
    end
  end

  # Both talk, as long as they like.
  def test_a_body_that_is_read_while_it_is_answered
    body = lambda do |stream|
      stream.write("begun")
      stream.write(stream.read)
      stream.close
    end
    in_time do |time|
      serving(->(_env) { [200, {}, body] }, header_timeout: time, body_rate: 1_000_000) do
        connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 3\n\n")
        trickle(connection, 3, time * 0.4)
        connection.response.body == "begunxxx" rescue false # standard:disable Style/RescueModifier
      end
    end
  end

  private

  def trickle(connection, bytes, pause)
    Pelton.spawn do
      bytes.times { sleep(pause) && connection.io.write("x") }
    rescue SystemCallError, IOError
      nil
    end
  end

  # A machine that stands still for a moment loses to a deadline. So the block may try again, with more time.
  def in_time
    assert([0.1, 0.5, 2.5].any? { |time| yield(time) })
  ensure
    reported.clear
  end
end
