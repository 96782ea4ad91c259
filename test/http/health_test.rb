# frozen_string_literal: true

require_relative "../support/http/peer"
require "stringio"
require "pelton/http/health"
require_relative "../support/captured_log"

class HTTPHealthTest < PeltonTest
  include CapturedLog
  include HttpPeer

  Health = Pelton::HTTP::Health

  def ask(app, path, verb = "GET") = Pelton.run { app.call({"PATH_INFO" => path, "REQUEST_METHOD" => verb}).first }

  def test_it_answers_its_paths_before_the_application
    app = Health.new(live_path: "/live", ready_path: "/ready").around(->(_env) { [418, {}, []] })

    assert_equal 200, ask(app, "/live")
    assert_equal 200, ask(app, "/ready")
    assert_equal 200, ask(app, "/ready", "HEAD")
    assert_equal 418, ask(app, "/ready", "POST")
    assert_equal 418, ask(app, "/")
    assert_equal 418, ask(app, nil)
  end

  def test_without_paths_there_is_nothing_in_front_of_the_application
    app, log = Array.new(2) { ->(_env) {} }

    assert_same app, Health.new.around(app)
    assert_same log, Health.new.sparing(log)
    assert_nil Health.new(live_path: "/live").sparing(nil)
  end

  def test_a_server_that_stops_is_alive_and_not_ready
    health = Health.new(live_path: "/live", ready_path: "/ready")
    app = health.around(nil)
    health.stop

    assert_equal 200, ask(app, "/live")
    assert_equal 503, ask(app, "/ready")
    assert_equal "it stops", health.obstacle
  end

  def test_the_block_decides
    answers = {-> { true } => nil, -> { false } => /says no/,
               -> { raise "no database" } => /no database \(RuntimeError\)/, -> { sleep } => /0.01 s/}
    answers.each do |check, reason|
      health = Health.new(ready_path: "/ready", check: check, timeout: 0.01)

      assert_equal reason ? 503 : 200, ask(health.around(nil), "/ready")
      reason ? assert_match(reason, health.obstacle) : assert_nil(health.obstacle)
    end
    assert_match(/not ready: the block of ready failed: no database/, @log.string)
  end

  # Whoever can reach the port may ask, and as often as they like.
  def test_the_block_is_called_once_a_second_at_most
    calls = 0
    health = Health.new(check: -> { (calls += 1) && sleep(0.02) }, timeout: 1)
    reasons = Pelton.run { Pelton.map(Array.new(5)) { health.obstacle } }

    assert_equal 1, calls
    assert_equal [nil, "it is not known yet"], reasons.uniq
    assert_nil health.obstacle
    assert_equal 1, calls
  end

  def test_the_reason_is_not_told_to_everyone
    app = Health.new(ready_path: "/ready", check: -> { raise "the password is secret" }, timeout: 1).around(nil)
    serving(app) do
      response = peer.get("/ready")

      assert_equal "not ready\n", response.body
      assert_equal "no-store", response["cache-control"]
    end
  end

  def test_only_refusals_are_logged
    [Pelton::HTTP::CommonLog, Pelton::HTTP::JSONLog].each do |format|
      log = StringIO.new
      ready = true
      health = Health.new(live_path: "/live", ready_path: "/ready", check: -> { ready }, timeout: 1)
      serving(health.around(HELLO), log: health.sparing(format.new(log))) do
        %w[/live /ready /page].each { |path| peer.get(path) }
        ready = false
        sleep 1.01 # the answer holds for a second
        peer.get("/ready")
      end

      assert_equal %w[/page /ready], log.string.scan(%r{/live|/page|/ready})
      assert_equal format == Pelton::HTTP::JSONLog, log.string.include?("computed_ms")
    end
  end
end
