# frozen_string_literal: true

require "tempfile"
require "tmpdir"
require_relative "../support/http/peer"

class HTTPBodyTest < PeltonTest
  include HttpPeer

  # Counts how often it was closed.
  class Parts
    attr_reader :closed

    def initialize(*parts, &block)
      @parts = parts
      @block = block
      @closed = 0
    end

    def each(&block)
      @parts.each(&block)
      @block&.call(block)
    end

    def close = @closed += 1
  end

  def serving_body(body, headers = {}, status: 200, **options, &block)
    serving(->(_env) { [status, headers, body] }, **options, &block)
  end

  def test_parts_are_chunked_and_the_body_is_closed_once
    body = Parts.new("a", "", "bc") { |write| 3.times { write.call("d") } }
    serving_body(body) do
      response = peer.get("/")

      assert_equal "abcddd", response.body
      assert_equal "chunked", response["transfer-encoding"]
    end
    assert_equal 1, body.closed
  end

  def test_clients_of_version_1_0_get_parts_until_the_connection_ends
    body = Parts.new("a", "b")
    serving_body(body) do
      response = peer.say("GET / HTTP/1.0\nConnection: keep-alive\n\n").response

      assert_equal "ab", response.body
      assert_equal "close", response["connection"]
      assert_nil response["transfer-encoding"]
    end
  end

  def test_parts_with_a_length
    serving_body(Parts.new("ab", "c"), {"content-length" => "3"}) do
      connection = peer

      2.times do
        response = connection.get("/")
        assert_equal "abc", response.body
        assert_nil response["transfer-encoding"]
      end
    end
  end

  def test_bodies_that_do_not_have_their_length
    [["abcd", "3"], ["ab", "3"]].each do |text, length|
      body = Parts.new(text)
      serving_body(body, {"content-length" => length}, lint: false) do
        bytes = answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n")

        assert_operator bytes.split("\r\n\r\n", 2).fetch(1, "").bytesize, :<, 3
      end
      assert_equal 1, body.closed
    end
    assert_equal 2, reported.size
    serving_body(["ab"], {"content-length" => "3"}, lint: false) { assert_equal 500, peer.get("/").status }
  end

  def test_responses_that_have_no_body
    serving(->(env) { [env["PATH_INFO"][1..].to_i, {}, []] }, lint: false) do
      connection = peer
      [204, 304].each do |status|
        response = connection.get("/#{status}")

        assert_equal status, response.status
        assert_nil response["content-length"]
        assert_nil response["transfer-encoding"]
      end
      assert_equal "0", connection.get("/200")["content-length"]
    end
  end

  def test_head_requests_get_the_head_alone
    body = Parts.new("never")
    serving(->(env) { [200, {}, (env["PATH_INFO"] == "/each") ? body : ["hello"]] }, lint: false) do
      connection = peer

      assert_equal "5", connection.get("/", method: "HEAD")["content-length"]
      assert_nil connection.get("/each", method: "HEAD")["content-length"]
      assert_equal "hello", connection.get("/").body
    end
    assert_equal 1, body.closed
  end

  def test_files_are_sent_as_they_are
    Tempfile.create("pelton") do |file|
      file.write(content = Random.new(2).bytes(5_000_000))
      file.flush
      serving(Rack::Files.new(File.dirname(file.path))) do
        connection = peer
        path = "/#{File.basename(file.path)}"

        assert_equal content, connection.get(path).body
        ranged = connection.get(path, "Range: bytes=10-19\n")

        assert_equal 206, ranged.status
        assert_equal content[10..19], ranged.body
        assert_equal content, connection.get(path).body
      end
    end
  end

  def test_a_file_that_is_gone
    body = Object.new
    body.define_singleton_method(:to_path) { "/no/such/file" }
    body.define_singleton_method(:each) { |&_block| raise "not this way" }
    serving_body(body, {"content-length" => "5"}, lint: false) do
      refute_match(/hello/, answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
    end
    assert_kind_of Errno::ENOENT, reported.first
  end

  # As those of X-Sendfile, which know a range.
  def test_a_body_that_sends_itself
    body = Parts.new { raise "not this way" }
    body.define_singleton_method(:send_to) { |exchange| exchange.write("by itself") }
    serving_body(body, lint: false) { assert_equal "by itself", peer.get("/").body }
    assert_equal 1, body.closed
  end

  # As values of memcached, which pass from one connection to another.
  def test_a_body_that_is_relayed
    relayed = []
    body = Parts.new { |parts| parts.call("!") }
    {bytesize: -> { 6 }, begin_relay: -> { "he" }, relay_to: lambda do |stream|
      next if relayed.any?
      relayed << stream
      stream.write("llo").then { 3 }
    end}.each { |name, work| body.define_singleton_method(name, &work) }
    serving_body(body, {"content-length" => "6"}, lint: false) { assert_equal "hello!", peer.get("/").body }

    assert_kind_of Pelton::Stream, relayed.first
  end

  # As Thin's users have it.
  class DeferrableBody
    include Pelton::Deferrable

    def call(parts) = parts.each { |part| @write.call(part) }

    def each(&block) = @write = block
  end

  def test_deferrable_bodies
    app = lambda do |env|
      body = DeferrableBody.new
      Pelton.next_tick do
        env["async.callback"].call([200, {}, body])
        body.call(%w[a b])
        Pelton.add_timer(0.005) do
          body.call(["c"])
          body.succeed
        end
      end
      throw :async
    end
    serving(app, lint: false) do
      connection = peer

      2.times { assert_equal "abc", connection.get("/").body }
    end
  end

  def test_a_deferrable_body_that_fails_ends_the_connection
    app = lambda do |_env|
      body = DeferrableBody.new
      Pelton.next_tick { body.fail(RuntimeError.new("x")) }
      [200, {}, body]
    end
    serving(app, lint: false) do
      refute_match(/0\r\n\r\n\z/, answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
    end
  end

  def test_a_deferrable_body_fails_when_its_client_is_gone
    body = DeferrableBody.new
    failed = 0
    app = lambda do |_env|
      body.errback { failed += 1 }
      [200, {}, body]
    end
    serving(app, lint: false) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      connection.io.readpartial(10)
      connection.reset
      sleep 0.002 until failed == 1
    end
  end

  def test_a_body_that_raises_is_closed_and_ends_the_connection
    body = Parts.new("a") { raise "in the middle" }
    serving_body(body) { refute_match(/0\r\n\r\n\z/, answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n")) }

    assert_equal 1, body.closed
    assert_equal ["in the middle"], reported.map(&:message)
  end

  def test_a_body_is_closed_when_its_client_goes_away
    body = Parts.new { |write| loop { write.call("x" * 100_000) } }
    finished = nil
    app = lambda do |env|
      env["rack.response_finished"] << ->(_env, _status, _headers, error) { finished = error }
      [200, {}, body]
    end
    serving(app) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      connection.io.readpartial(1000)
      connection.close
      sleep 0.005 until body.closed == 1 && finished
    end
    assert_kind_of Pelton::ClosedError, finished
  end

  # ---- closed once, whatever becomes of it

  def test_a_close_that_raises
    body = Parts.new("a")
    body.define_singleton_method(:close) { super() && raise("late") }
    serving_body(body) { assert_equal "a", peer.get("/").body }

    assert_equal 1, body.closed
    assert_equal ["late"], reported.map(&:message)
  end

  # Rack 3 has to_ary close the body, Rack 2 the server.
  def test_a_body_that_converts_to_an_array_is_closed
    body = Parts.new("not this way")
    body.define_singleton_method(:to_ary) { ["a", "b"] }
    serving_body(body, lint: false) { assert_equal "ab", peer.get("/").body }

    assert_equal 1, body.closed
    assert_equal [], reported
  end

  # A body of Rails that was made from an Enumerator.
  def test_a_body_whose_to_ary_returns_something_else_is_sent_in_parts
    body = Parts.new("a", "b")
    body.define_singleton_method(:to_ary) { each }
    body.define_singleton_method(:each) { |&block| block ? %w[a b].each(&block) : %w[a b].each }
    serving_body(body, lint: false) { assert_equal "ab", peer.get("/").body }

    assert_equal 1, body.closed
    assert_equal [], reported
  end

  # What Rails makes of Rack::Files' answer to a range: to_ary calls `each` without a block.
  def test_a_body_whose_length_is_given_is_not_converted
    {"content-length" => "2", "Content-Length" => "2", "transfer-encoding" => "chunked"}.each do |name, value|
      body = Parts.new
      asked = 0
      body.define_singleton_method(:to_ary) { (asked += 1) && each }
      parts = (value == "chunked") ? ["1\r\na\r\n", "0\r\n\r\n"] : %w[a b]
      body.define_singleton_method(:each) { |&block| parts.each { |part| block.call(part) } }
      text = nil
      serving_body(body, {name => value}, lint: false) do
        text = answer("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").split("\r\n\r\n", 2).last
      end

      assert_equal parts.join, text, name

      assert_equal 0, asked, name
      assert_equal 1, body.closed, name
      assert_equal [], reported, name
    end
  end

  def file_body(path, *parts)
    Parts.new(*parts).tap { |body| body.define_singleton_method(:to_path) { path } }
  end

  def test_a_file_that_is_shorter_than_announced
    body = file_body(__FILE__)
    serving_body(body, {"content-length" => (File.size(__FILE__) + 1).to_s}, lint: false) do
      answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    end

    assert_equal 1, body.closed
    assert_equal [Pelton::Error], reported.map(&:class)
  end

  # Opening it would wait for somebody who writes into it.
  def test_a_path_that_is_no_file
    Dir.mktmpdir do |folder|
      File.mkfifo(path = "#{folder}/pipe")
      body = file_body(path, "hello")
      serving_body(body, {"content-length" => "5"}) { assert_equal "hello", peer.get("/").body }

      assert_equal 1, body.closed
    end
  end

  # Its stream may be closed long after the call.
  def test_a_streaming_body_is_closed_when_its_response_is_over
    events = []
    body = Object.new
    body.define_singleton_method(:call) do |stream|
      Pelton.next_tick { (events << :written) && stream.write("a") && stream.close }
    end
    body.define_singleton_method(:close) { events << :closed }
    serving_body(body) { assert_equal "a", peer.get("/").body }

    assert_equal %i[written closed], events
  end

  # Whoever finds that out may be a task of its own, which says no more.
  def test_streaming_bodies_that_do_not_have_their_length
    %w[abcd ab].each do |text|
      body = proc { |stream| Pelton.spawn { stream.write(text) && stream.close } }
      serving_body(body, {"content-length" => "3"}, lint: false) do
        assert_operator answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n").split("\r\n\r\n", 2).fetch(1, "").bytesize, :<, 3
      end
    end
    assert_equal [Pelton::Error] * 2, reported.map(&:class)
  end

  # 20 MB to somebody who does not read: others are served meanwhile, and it arrives whole.
  def test_a_slow_reader_holds_up_nobody
    large = "0123456789abcdef" * 1_250_000
    serving(->(env) { [200, {}, (env["PATH_INFO"] == "/large") ? [large] : Parts.new("quick")] }) do
      slow = peer.say("GET /large HTTP/1.1\nHost: h\n\nGET / HTTP/1.1\nHost: h\n\n")
      5.times { assert_equal "quick", peer.get("/").body }

      assert_equal large, slow.response.body
      assert_equal "quick", slow.response.body
    end
  end
end
