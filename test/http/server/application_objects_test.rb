# frozen_string_literal: true

require_relative "../../support/http/peer"

# Methods of the application's objects that the server calls when the head of their response is written.
class HTTPApplicationObjectsTest < PeltonTest
  include HttpPeer

  # A body whose respond_to? runs the block, when it is asked for `each`; and how often it was closed.
  def asked(closes = [])
    Object.new.tap do |body|
      body.define_singleton_method(:respond_to?) { |name, *| (name == :each) ? yield : name == :close }
      body.define_singleton_method(:each) { |&block| block.call("x") }
      body.define_singleton_method(:close) { closes << 1 }
    end
  end

  def test_a_body_that_waits_when_asked_what_it_is_until_the_request_timeout
    body = asked { sleep(0.1) && true }
    serving(->(_) { [200, {}, body] }, lint: false, request_timeout: 0.02) { assert_equal "x", peer.get("/").body }
  end

  # While it waits its head leaves together with the first response, and cannot be taken back: so the connection ends.
  def test_a_body_that_raises_when_asked_what_it_is
    bodies = [asked { raise "none" }, asked { sleep(0.005) && raise("none") }]
    serving(->(env) { [200, {}, (env["PATH_INFO"] == "/1") ? ["first"] : bodies.shift] }, lint: false) do
      connection = peer.say("GET /1 HTTP/1.1\nHost: h\n\n#{GET}")

      assert_equal "first", connection.response.body
      assert_equal 500, connection.response.status
      connection.say("GET /1 HTTP/1.1\nHost: h\n\n#{GET}")

      assert_equal "first", connection.response.body
      assert_raises(EOFError) { connection.response }
    end
    assert_equal ["none"] * 2, reported.map(&:message)
  end

  def test_a_body_that_is_asked_what_it_is_when_the_client_goes
    connection = nil
    body = asked(closes = []) do
      connection.io.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
      connection.close # by a reset
      sleep 0.002 until @exchange.then { |exchange| !exchange.open? }
      @exchange.abort
      GC.start
      true
    end
    app = lambda do |env|
      @exchange = env["async.callback"]
      [200, {}, body]
    end
    serving(app, lint: false) do
      connection = peer.say(GET)
      sleep 0.002 until closes.any? && server.stats[:connections].zero?
    end

    assert_equal [1], closes
    assert_empty reported
  end

  def test_a_hijacker_that_is_asked_what_it_is_when_the_stream_is_taken
    taken = nil
    hijacker = ->(_) { raise "the stream is taken" }
    hijacker.define_singleton_method(:respond_to?) { |*| taken ||= @exchange.hijack }
    app = lambda do |env|
      hijacker.instance_variable_set(:@exchange, env["async.callback"])
      [200, {"rack.hijack" => hijacker}, []]
    end
    serving(app, lint: false) do
      connection = peer.say(GET)
      sleep 0.002 until taken
      taken.write("theirs")
      taken.close

      assert_match(/theirs\z/, connection.io.read)
    end
    assert_empty reported
  end

  # The message of the error would call it.
  def test_no_inspect_of_a_malformed_name_is_called
    name = Class.new(String) { def inspect = raise("called") }.new("a\rb")
    app = lambda do |env|
      assert_match(/a\\rb/,
        assert_raises(ArgumentError) { env["rack.early_hints"].call("a" => "b", name => "c") }.message)
      [200, {name => "c"}, []]
    end
    serving(app, lint: false, early_hints: true) { assert_equal 500, peer.get("/").status }
    assert_equal [ArgumentError], reported.map(&:class)
  end
end
