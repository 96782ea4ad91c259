# frozen_string_literal: true

require_relative "../support/http/peer"

# Responses of the server's cache after their lifetime (RFC 5861).
class HTTPCacheStaleTest < PeltonTest
  include HttpPeer

  def test_an_old_response_is_answered_while_a_new_one_is_made
    stale("stale-while-revalidate=60") do
      answers = Array.new(3) { peer.get("/a") }
      assert_equal ["1"], answers.map(&:body).uniq
      assert(answers.all? { |answer| answer["age"].to_i.positive? })
      eventually { @calls == 2 }
      assert_equal [3, 3, 1], @server.stats.values_at(:cache_stale, :cache_hits, :running)
      @gate.push([200, "2"])
      eventually { peer.get("/a").body == "2" }
      assert_equal 2, @calls
    end
  end

  def test_the_request_in_the_background_has_no_client
    stale("stale-while-revalidate=60") do
      connection = peer
      connection.get("/a", "User-Agent: me\nX-Forwarded-For: 10.0.0.1\nIf-None-Match: x\n", method: "HEAD")
      connection.reset
      eventually { @calls == 2 }
      env = @envs.last
      assert_equal({"REQUEST_METHOD" => "GET", "PATH_INFO" => "/a", "HTTP_USER_AGENT" => "Pelton"},
        env.slice("REQUEST_METHOD", "PATH_INFO", *env.keys.grep(/\AHTTP_(?:USER_AGENT|X_FORWARDED_FOR|IF_NONE_MATCH)/)))
      assert_equal false, env["rack.hijack?"]
      assert_nil env["rack.hijack"]
      assert_equal 2, @server.stats[:requests] - 1
      @gate.push([200, "2"])
      eventually { peer.get("/a").body == "2" }
    end
  end

  # Its body is not produced, and closed.
  def test_what_is_not_kept_in_the_background
    closed = false
    body = Class.new { define_method(:each) { |&_| raise "produced" } }.new
    body.define_singleton_method(:close) { closed = true }
    stale("stale-while-revalidate=60") do
      peer.get("/a")
      eventually { @calls == 2 }
      @gate.push([200, body])
      eventually { closed }
      eventually { @server.stats[:running].zero? }
      @gate.push([200, "3"])
      assert_equal "3", peer.get("/a").body
    end
  end

  def test_a_failure_in_the_background_keeps_the_old_response
    stale("stale-while-revalidate=60") do
      peer.get("/a")
      @gate.push(RuntimeError.new("no"))
      eventually { @server.stats[:errors] == 1 }
      assert_equal "1", peer.get("/a").body
      assert_equal ["no"], reported.map(&:message)
      @gate.push([200, "2"])
      eventually { peer.get("/a").body == "2" }
    end
  end

  def test_a_server_that_stops_waits_for_it
    stale("stale-while-revalidate=60") do
      peer.get("/a").then { @peers.each(&:close) }
      eventually { @calls == 2 }
      stop = Pelton.spawn { @server.stop(timeout: 5) }
      eventually { @server.stats[:connections] == 1 }
      @gate.push([200, "2"])
      assert stop.await
    end
  end

  def test_in_the_background_with_no_slot_and_with_a_deadline
    stale("stale-while-revalidate=60", concurrency: 1, queue: 0, request_timeout: 0.2) do
      first = peer.say("GET /b HTTP/1.1\nHost: localhost\n\n")
      eventually { @calls == 2 }
      assert_equal "1", peer.get("/a").body
      assert_equal 2, @calls, "it was not run: nobody may wait"
      @gate.push([200, "b"])
      assert_equal "b", first.response.body
      assert_equal "1", peer.get("/a").body
      eventually { @calls == 3 }
      eventually { @server.stats[:running].zero? } # by its deadline
      assert_equal "1", peer.get("/a").body
      @gate.push([200, "2"])
    end
  end

  # What concerns its connection is no end of this request.
  def test_a_client_that_has_left_before_its_response_is_renewed
    closed = []
    stale("stale-while-revalidate=60") do
      client = peer
      client.get("/a")
      eventually { @calls == 2 }
      client.reset
      eventually { @server.stats[:connections] == 2 } # another one, and the request itself
      @envs.last["async.close"].callback { closed << @calls }
      peer.get("/a") # the callback's turn would have been before
      assert_empty closed
      @gate.push(Pelton::ConnectionError.new("no database"))
      eventually { closed == [2] }
      assert_equal ["no database"], reported.map(&:message)
    end
  end

  # The client's first request: its address is read for the one in the background.
  def test_under_a_collector_at_every_object
    stale("stale-while-revalidate=60") do
      client = peer
      GC.stress = 1 # minor ones
      body = client.get("/a").body
      eventually { @calls == 2 }
      GC.stress = false
      assert_equal "1", body
      @gate.push([200, "2"])
      eventually { peer.get("/a").body == "2" }
    ensure
      GC.stress = false
    end
  end

  def test_in_place_of_a_failure
    stale("stale-if-error=60") do
      @gate.push(RuntimeError.new("no"))
      answer = peer.get("/a")
      assert_equal [200, "1", true], [answer.status, answer.body, answer["age"].to_i.positive?]
      @gate.push([503, "busy"])
      assert_equal "1", peer.get("/a").body
      assert_equal [2, 0, 1], @server.stats.values_at(:cache_stale, :cache_hits, :errors)
      @gate.push([404, "none"])
      assert_equal 404, peer.get("/a").status
      assert_equal ["no"], reported.map(&:message)
    end
  end

  def test_of_requests_at_once_one_fails
    stale("stale-if-error=60") do
      waiting = Array.new(4) { peer.say("GET /a HTTP/1.1\nHost: localhost\n\n") }
      eventually { @server.stats[:cache_waits] == 3 }
      @gate.push([500, "no"])
      assert_equal ["1"], waiting.map { |peer| peer.response.body }.uniq
      assert_equal 2, @calls
    end
  end

  def test_a_deadline_is_a_failure
    stale("stale-if-error=60", request_timeout: 0.2) do
      assert_equal [200, "1"], peer.get("/a").then { |answer| [answer.status, answer.body] }
    end
  end

  def test_without_the_directives
    stale("must-revalidate, stale-if-error=60, stale-while-revalidate=60") do
      @gate.push([500, "no"])
      assert_equal 500, peer.get("/a").status
      assert_equal 0, @server.stats[:cache_stale]
    end
  end

  def test_beyond_their_seconds
    stale("stale-while-revalidate=0, stale-if-error=0") do
      @gate.push([500, "no"])
      assert_equal 500, peer.get("/a").status
    end
  end

  private

  # Yields when the response "1" to /a is too old. The application answers by what comes into @gate.
  def stale(directives, **options)
    headers = {"content-type" => "text/plain", "cache-control" => "public, max-age=1, #{directives}"}
    @gate = Thread::Queue.new
    @calls = 0
    @envs = []
    app = lambda do |env|
      @calls += 1
      @envs << env
      status, body = @gate.pop.then { |got| got.is_a?(Exception) ? raise(got) : got }
      [status, headers.dup, body.is_a?(String) ? [body] : body]
    end
    serving(app, lint: false, cache: 1 << 20, **options) do
      @gate.push([200, "1"])
      peer.get("/a")
      sleep 1.1 # its lifetime
      yield
    end
  end
end
