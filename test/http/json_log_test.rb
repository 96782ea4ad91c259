# frozen_string_literal: true

require "json"
require "stringio"
require_relative "../support/certificates"
require_relative "../support/http/peer"

class HTTPJSONLogTest < PeltonTest
  include HttpPeer

  # @return [Array<Hash>] the lines of these requests
  def lines(app, *requests, lint: true)
    io = StringIO.new
    serving(app, lint: lint, log: Pelton::HTTP::JSONLog.new(io)) do
      connection = peer
      requests.each { |path, headers| connection.get(path, headers.to_s) }
    end
    io.string.lines.map { |line| JSON.parse(line) }
  end

  def test_a_line_for_each_request
    first, second = lines(->(env) { (env["PATH_INFO"] == "/a") ? HELLO.call(env) : [204, {}, []] },
      ["/a?secret=1", "X-Request-Id: abc\n"], "/b")

    assert_equal({"request_id" => "abc", "method" => "GET", "path" => "/a", "status" => 200, "bytes" => 5,
      "address" => "127.0.0.1"},
      first.slice("request_id", "method", "path", "status", "bytes", "address"))
    assert_equal [204, 0, nil], second.values_at("status", "bytes", "request_id")
    assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, first["time"])
    # Which is there once this process has sent one
    assert_equal %w[time method path status bytes ms waited_ms computed_ms address], second.keys - ["queries"]
  end

  def test_time_is_waited_or_computed
    app = lambda do |env|
      case env["PATH_INFO"]
      when "/wait" then sleep 0.05
      when "/compute" then (limit = now + 0.05) && (nil while now < limit)
      when "/task" then Pelton.spawn { sleep 0.05 }.await
      end
      HELLO.call(env)
    end
    waiting, computing, awaiting = lines(app, "/wait", "/compute", "/task")

    [waiting, awaiting].each { |line| assert_operator line["waited_ms"], :>=, 49 }
    assert_operator computing["computed_ms"], :>=, 49
    assert_equal 0, computing["waited_ms"]
    [waiting, computing].each { |line| assert_operator line["ms"], :>=, line["waited_ms"] + line["computed_ms"] - 0.01 }
  end

  # The wait of one request is not that of another, whose code runs meanwhile, also on the same fiber later.
  def test_each_request_has_its_own_time
    io = StringIO.new
    gate = Thread::Queue.new
    app = ->(env) { (env["PATH_INFO"] == "/wait") ? (gate.pop && HELLO.call(env)) : HELLO.call(env) }
    serving(app, log: Pelton::HTTP::JSONLog.new(io)) do
      first = peer.say("GET /wait HTTP/1.1\nHost: x\n\n")
      other = peer
      5.times { other.get("/") }
      gate << true
      first.response
      5.times { other.get("/") }
    end
    waited = io.string.lines.map { |line| JSON.parse(line) }.group_by { |line| line["path"] }

    assert_equal [0], waited["/"].map { |line| line["waited_ms"] }.uniq
    assert_operator waited["/wait"].first["waited_ms"], :>, 0
  end

  def test_the_time_before_the_server
    now = Time.now.to_f - 1
    starts = ["t=#{now.round(3)}", (now * 1000).to_i, (now * 1_000_000).to_i, "t=#{now + 100}", "t=0", "x", "",
      "t=NaN", "-1", "1e999"]
    queued = lines(HELLO, *starts.map { |start| ["/", "X-Request-Start: #{start}\n"] }).map { |line| line["queue_ms"] }

    queued.first(3).each { |milliseconds| assert_includes 999..31_000, milliseconds }
    assert_equal [nil] * 7, queued.drop(3)
  end

  # A line is one line of ASCII, whatever stands in it (rack CVE-2025-25184).
  def test_what_a_client_or_middleware_says_makes_no_lines_of_its_own
    app = lambda do |env|
      env["HTTP_X_REQUEST_ID"] = "a\n{}\u2028\e[2J"
      env["REMOTE_ADDR"] = "\xff\0"
      env["PATH_INFO"] = nil
      HELLO.call(env)
    end
    io = StringIO.new
    serving(app, lint: false, log: Pelton::HTTP::JSONLog.new(io)) { peer.get("/") }

    assert_equal 1, io.string.lines.size
    assert_equal true, io.string.ascii_only?
    assert_equal ["a\n{}\u2028\e[2J", "\ufffd\0", nil], JSON.parse(io.string).values_at("request_id", "address", "path")
  end

  def test_paths_of_any_bytes
    assert_equal ["/%c3%a9%ff"], lines(HELLO, "/%c3%a9%ff").map { |line| line["path"] }
  end

  # As Rails has it: the address is found when it is asked for, and may be none.
  def test_what_rails_knows_of_a_request
    app = lambda do |env|
      env["action_dispatch.request_id"] = "rails"
      spoofed = env["PATH_INFO"] == "/spoofed"
      env["action_dispatch.remote_ip"] =
        Object.new.tap { |ip| ip.define_singleton_method(:to_s) { spoofed ? raise("IP spoofing") : "203.0.113.9" } }
      HELLO.call(env)
    end
    found = lines(app, ["/", "X-Request-Id: proxy\n"], "/spoofed", lint: false).map do |line|
      line.values_at("request_id", "address")
    end

    assert_equal [["rails", "203.0.113.9"], ["rails", "127.0.0.1"]], found
  end

  def test_connections_without_a_request
    io = StringIO.new
    serving(HELLO, log: Pelton::HTTP::JSONLog.new(io), header_timeout: 0.05) do
      say_no_requests
      secure = server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h)
      TCPSocket.open("127.0.0.1", secure.port) { |socket| socket.write("no handshake\r\n\r\n") && (socket.read rescue nil) } # standard:disable Style/RescueModifier
    end
    lines = io.string.lines.map { |line| JSON.parse(line) }

    assert_equal [400, 408, nil], lines.map { |line| line["status"] }
    assert_equal [%w[time status address error]] * 2 + [%w[time address error]], lines.map(&:keys)
    assert_equal ["127.0.0.1"], lines.map { |line| line["address"] }.uniq
    assert_equal "the request did not arrive in time", lines[1]["error"]
    assert_match(/TLS handshake/, lines[2]["error"])
  end

  def test_failures
    assert_equal [500], lines(->(_env) { raise "failed" }, "/", lint: false).map { |line| line["status"] }
    assert_equal ["failed"], reported.map(&:message)
  end

  # On the fiber of the request, or of a task that it has spawned.
  def test_queries
    query = -> { Pelton::Notifications.start("query.sequel") { {} }.finish(nil, 0.002) }
    app = lambda do |env|
      env["PATH_INFO"].count("q").times { sleep(0).then { query.call } }
      Pelton.map(env["PATH_INFO"].chars.grep("t")) { sleep(0).then { query.call } }
      HELLO.call(env)
    end
    lines(app, "/q")

    assert_equal [[0, nil], [3, 6.0], [3, 6.0], [0, nil]],
      lines(app, "/", "/qqq", "/qtt", "/").map { |line| line.values_at("queries", "queries_ms") }
    query.call # outside any request
  end
end
