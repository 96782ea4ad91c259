# frozen_string_literal: true

require_relative "../../support/http/peer"

# Requests that miss the same key of the server's cache at once.
class HTTPCachedFlightTest < PeltonTest
  include HttpPeer

  PUBLIC = {"content-type" => "text/plain", "cache-control" => "public, max-age=60"}.freeze
  COUNT = 8

  def test_the_application_runs_once
    held do
      answers = asked("", 1)
      assert_equal COUNT - 1, @server.stats[:cache_waits]
      assert_equal [COUNT - 1, 1], @server.stats.values_at(:waiting, :running)
      @gate.pop.push(1)

      assert_equal ["1"], answers.map { |peer| peer.response.body }.uniq
      assert_equal 1, @calls
      assert_equal COUNT, @server.stats[:requests]
      assert_equal COUNT, @server.stats[:responses]["2xx"]
    end
  end

  # The first sees who asks; of those that waited, one runs without that, and the others wait for it.
  def test_requests_that_say_who_they_are_cost_two_calls
    held do
      answers = asked("User-Agent: me\nX-Forwarded-For: 10.0.0.1\n", 1)
      @gate.pop.push(1)
      second = @gate.pop
      assert_equal "1", answers.shift.response.body
      assert_equal ["me", "Pelton"], @envs.map { |env| env["HTTP_USER_AGENT"] }
      assert_equal ["10.0.0.1", nil], @envs.map { |env| env["HTTP_X_FORWARDED_FOR"] }
      second.push(1)

      assert_equal ["2"], answers.map { |peer| peer.response.body }.uniq
      assert_equal "2", peer.get("/a", "User-Agent: me\n").body
    end
  end

  def test_a_response_that_is_not_public_lets_all_others_run
    held(headers: {"content-type" => "text/plain"}) do
      answers = asked("", 1)
      @gate.pop.push(1)
      eventually { @calls == COUNT }
      (COUNT - 1).times { @gate.pop.push(1) }

      assert_equal (1..COUNT).to_a, answers.map { |peer| peer.response.body.to_i }.sort
      again = asked("", COUNT) # it is known now: nobody waits
      assert_equal COUNT - 1, @server.stats[:cache_waits]
      COUNT.times { @gate.pop.push(1) }
      again.each(&:response)
    end
  end

  def test_a_body_that_goes_on_lets_all_others_run_as_it_begins
    ended = Thread::Queue.new
    stream = lambda do |_|
      @calls = @calls.to_i + 1
      @gate.push(mine = Thread::Queue.new) && mine.pop
      [200, PUBLIC.dup, ->(body) { body.write("x") && ended.pop && body.close }]
    end
    @gate = Thread::Queue.new
    serving(stream, lint: false, cache: 1 << 20) do
      answers = asked("", 1)
      @gate.pop.push(1)
      eventually { @calls == COUNT }
      (COUNT - 1).times { @gate.pop.push(1) }
      COUNT.times { ended << 1 }
      assert_equal ["x"], answers.map { |peer| peer.response.body }.uniq
    end
  end

  def test_a_first_one_that_fails_lets_all_others_run
    held do
      answers = asked("", 1)
      @gate.pop.push(RuntimeError.new("no"))
      eventually { @calls == COUNT }
      (COUNT - 1).times { @gate.pop.push(1) }

      assert_equal [500, *[200] * (COUNT - 1)], answers.map { |peer| peer.response.status }
      assert_equal ["no"], reported.map(&:message)
    end
  end

  def test_a_first_one_that_answers_503_lets_all_others_run
    held do
      answers = asked("", 1)
      @gate.pop.push(503)
      eventually { @calls == COUNT }
      (COUNT - 1).times { @gate.pop.push(1) }
      assert_equal [503, *[200] * (COUNT - 1)], answers.map { |peer| peer.response.status }
    end
  end

  # It waits for its slot, so nothing runs for it any more.
  def test_a_first_one_that_leaves_lets_the_others_go_on
    held(concurrency: 1) do
      other = ask("/other")
      gate = @gate.pop
      first = ask("/a")
      eventually { @server.stats[:waiting] == 1 }
      second = ask("/a")
      eventually { @server.stats[:cache_waits] == 1 }
      first.reset
      gate.push(1)
      @gate.pop.push(1)

      assert_equal %w[1 2], [other, second].map { |peer| peer.response.body }
    end
  end

  def test_a_client_that_leaves_while_it_waits
    held do
      first, second, third = asked("", 1, count: 3)
      second.reset
      eventually { @server.stats[:waiting] == 1 }
      @gate.pop.push(1)
      assert_equal %w[1 1], [first, third].map { |peer| peer.response.body }
    end
  end

  def test_each_waits_no_longer_than_its_own_deadline
    held(request_timeout: 0.2) do
      first, second = asked("", 1, count: 2)
      assert_equal 504, second.response.status
      assert_equal 504, first.response.status
      @gate.pop
    end
  end

  def test_other_keys_do_not_wait
    held do
      answers = ["/a", "/b", "/a?"].map { |path| ask(path) }
      eventually { @calls == 3 }
      assert_equal 0, @server.stats[:cache_waits]
      3.times { @gate.pop.push(1) }
      answers.each(&:response)
    end
  end

  def test_a_server_that_stops_answers_those_that_wait
    held do
      answers = asked("", 1)
      stop = Pelton.spawn { @server.stop(timeout: 5) }
      @gate.pop.push(1)
      assert_equal ["1"], answers.map { |peer| peer.response.body }.uniq
      assert stop.await
    end
  end

  def test_under_a_collector_at_every_object
    threshold, Pelton.watchdog = Pelton.watchdog, nil
    held do
      answers = asked("User-Agent: me\n", 1, count: 3)
      GC.stress = 1 # minor ones: what these requests make is young, and the process may hold much that is old
      @gate.pop.push(1)
      @gate.pop.push(1)
      eventually { @server.stats[:responses]["2xx"] == 3 }
      GC.stress = false
      assert_equal %w[1 2 2], answers.map { |peer| peer.response.body }
    ensure
      GC.stress = false
    end
  ensure
    Pelton.watchdog = threshold
  end

  private

  # An application each of whose calls waits until something is put into its queue, which is in @gate.
  def held(headers: PUBLIC, **options, &block)
    @calls = 0
    @envs = []
    @gate = Thread::Queue.new
    app = lambda do |env|
      number = @calls += 1
      @envs << env.dup
      @gate.push(mine = Thread::Queue.new)
      got = mine.pop
      raise got if got.is_a?(Exception)
      [(got == 1) ? 200 : got, headers.dup, [number.to_s]]
    end
    serving(app, cache: 1 << 20, **options, &block)
  end

  def ask(path, headers = "") = peer.say("GET #{path} HTTP/1.1\nHost: localhost\n#{headers}\n")

  # Clients that ask for /a, when so many calls have begun, and all requests have come.
  def asked(headers, running, count: COUNT)
    before = @server.stats[:requests]
    first = ask("/a", headers)
    eventually { @server.stats[:requests] == before + 1 }
    others = Array.new(count - 1) { ask("/a", headers) }
    eventually { @server.stats[:requests] == before + count && @server.stats[:running] == running }
    [first, *others]
  end
end
