# frozen_string_literal: true

require "test_helper"
require "digest"
require "minitest/mock"
require "pelton/lab"
require "pelton/lab/programs"
require "pelton/lab/pattern"
require "pelton/lab/run"
require "pelton/lab/web/load"
require "pelton/lab/web/programs"
require "pelton/lab/web/server"
require "net/http"
require "support/http/scripts"
require_relative "../support/wrong_answers"

class LabWebLoadTest < PeltonTest
  include HTTPScripts
  include WrongAnswers

  def setup
    @run = Pelton::Lab::Run.new(size: 1)
    @load = Pelton::Lab::WebLoad.new(@run)
  end

  # Answers each request with the status and body that the block returns for its number, on a connection each. The block
  # gets the request as well.
  def serve
    number = 0
    server = script do |request, socket|
      status, body = yield number += 1, request
      socket.write("HTTP/1.1 #{status}\r\nconnection: close\r\ncontent-length: #{body.bytesize}\r\n\r\n#{body}")
      :close
    end
    "http://127.0.0.1:#{server.port}/"
  end

  def test_ab_counts_answers
    needs("ab")
    done = @load.ab(serve { ["200 OK", "hello"] }, requests: 10, connections: 3, bytes: 5)

    assert_equal 10, done.requests
    assert_kind_of Float, done.seconds
    assert_operator done.p99_ms, :>=, done.p50_ms
  end

  def test_ab_posts_a_body_with_headers_and_takes_answers_of_any_length
    needs("ab")
    asked = []
    url = serve do |n, request|
      asked << [request.verb, *request.headers.values_at("cookie", "connection", "content-type"), request.body]
      ["200 OK", "hello" * n]
    end
    done = @load.ab(url, requests: 3, connections: 1, keep_alive: true, post: "[1]", headers: {"Cookie" => "a=b"})

    assert_equal 3, done.requests
    assert_equal [["POST", "a=b", "Keep-Alive", "application/json", "[1]"]], asked.uniq
  end

  def test_ab_finds_wrong_answers
    needs("ab")

    assert_wrong do
      @load.ab(serve { |n| (n == 7) ? ["500 No", "hello"] : ["200 OK", "hello"] }, requests: 10, connections: 1,
        bytes: 5)
    end
    assert_wrong do
      @load.ab(serve { |n| ["200 OK", (n == 7) ? "hell" : "hello"] }, requests: 10, connections: 1, bytes: 5)
    end
    assert_wrong { @load.ab(serve { ["200 OK", "hell"] }, requests: 3, connections: 1, bytes: 5) }
    assert_match(/ab failed/,
      assert_raises(RuntimeError) { @load.ab("http://127.0.0.1:1/", requests: 3, connections: 1, bytes: 5) }.message)
  end

  def test_wrk_counts_answers
    needs("wrk")
    done = @load.wrk(serve { ["200 OK", "hello"].tap { pause } }, seconds: 1, connections: 1)

    assert_operator done.requests, :>, 0
    assert_kind_of Float, done.seconds
    assert_operator done.p50_ms, :>, 1 # whatever the unit that wrk has taken
    assert_operator done.p99_ms, :>=, done.p50_ms
  end

  def test_wrk_finds_wrong_answers
    needs("wrk")

    assert_wrong { @load.wrk(serve { ["500 No", "hello"].tap { pause } }, seconds: 1, connections: 1) }
  end

  # Where the URL names another host than it connects to.
  def test_h2load_counts_answers_and_knows_their_times
    needs("h2load")
    web = Pelton::Lab::WebPrograms
    Pelton::Lab::WebServer.serve(web.pelton(web.application("hello"))) do |server|
      url = server.url(host: "edge.example")
      done =
        @load.h2load(url, seconds: 1, connections: 2, streams: 2, at: "127.0.0.1:#{server.port}", percentiles: true)

      assert_operator done.requests, :>, 0
      assert_operator done.p50_ms, :>, 0
      assert_operator done.p99_ms, :>=, done.p50_ms
      assert_nil @load.h2load(server.url, seconds: 1, connections: 1).p99_ms
    end
  end

  def test_wrk_posts_a_body
    needs("wrk")
    bodies = []
    url = serve do |_, request|
      bodies << [request.verb, request.headers["content-type"], request.body]
      ["200 OK", "hello"].tap { pause }
    end
    @load.wrk(url, seconds: 1, connections: 1, post: '{"key": ["value", "]]"]}')

    assert_equal [["POST", "application/json", '{"key": ["value", "]]"]}']], bodies.uniq
  end

  def test_wrk_ends_connections
    needs("wrk")
    closed = 0
    url = serve do |_, request|
      closed += 1 if request.headers["connection"].to_s.casecmp?("close")
      ["200 OK", "hello"].tap { pause }
    end
    done = @load.wrk(url, seconds: 1, connections: 1, requests_per_connection: 3)

    assert_in_delta done.requests / 3.0, closed, 2
  end

  def test_uploads_the_pattern
    digests = []
    url = serve do |_, request|
      digests << [request.body.bytesize, Digest::SHA256.hexdigest(request.body)]
      ["200 OK", request.body.bytesize.to_s]
    end
    done = @load.upload(at(url), "/x", times: 2, bytes: 200_000, body: "200000")

    assert_equal 2, done.requests
    assert_equal [[200_000, Pelton::Lab::Pattern.digest(200_000)]], digests.uniq
    assert_wrong(/status and body should be/) { @load.upload(at(url), "/x", times: 1, bytes: 10, body: "11") }
    assert_wrong(/an upload: /) { @load.upload(Struct.new(:port).new(1), "/x", times: 1, bytes: 10, body: "10") }
  end

  # Stands for a WebServer: a port and a GET.
  def at(url)
    port = url[/:(\d+)/, 1].to_i
    Struct.new(:port) { def get = Net::HTTP.get_response("127.0.0.1", "/", port) }.new(port)
  end

  def test_asks_at_fixed_times_and_does_something_else_between
    turns = 0
    times = @load.paced(at(serve { ["200 OK", "hello"] }), requests: 3, interval: 0.01, body: "hello") { turns += 1 }

    assert_equal 3, times.size
    assert_equal 3, turns
    assert times.all?(&:positive?)
    refute GC.disable, "garbage is collected again"
    assert_wrong { @load.paced(at(serve { ["200 OK", "hell"] }), requests: 1, interval: 0.01, body: "hello") {} }
  ensure
    GC.enable
  end

  # The clock advances by one with each answer, and each request is due at zero.
  def test_a_late_answer_delays_the_next_one_as_well
    clock = 0
    server = at(serve { clock += 1 and ["200 OK", "hello"] })

    Pelton::Clock.stub(:now, -> { clock }) do
      assert_equal [1, 2, 3], @load.paced(server, requests: 3, interval: 0, body: "hello") {}
    end
  end

  def test_idle_connections_and_slow_readers_ask_the_same_server
    url = serve { ["200 OK", "hello"] }

    assert_wrong { @load.idle_connections(at(url), 2, body: "hello").check }
    @load.slow_readers(at(url), "/", 2, body: "hello").check
  end

  def test_a_program_that_is_missing_is_named
    error = assert_raises(Pelton::Lab::Unavailable) { Pelton::Lab::WebLoad.program("pelton-has-no-such-program") }

    assert_match(/pelton-has-no-such-program is not installed/, error.message)
  end

  def test_a_program_stands_for_the_races_server
    program = Pelton::Lab::WebLoad.program("ruby")

    assert_match(/\Aruby \d/, program.version)
    assert_nil program.port
  end

  private

  # wrk sends requests for a whole second: a few are enough.
  def pause = sleep(0.02)

  def needs(program)
    skip "no #{program}" unless Pelton::Lab::Programs.find(program)
  end
end
