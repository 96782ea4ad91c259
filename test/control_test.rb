# frozen_string_literal: true

require_relative "test_helper"
require_relative "support/sockets"
require "pelton/control"
require "tmpdir"

class ControlTest < PeltonTest
  include Sockets

  def test_it_answers_with_the_stats
    control do |path|
      head, body = answer_from(path, "GET /stats HTTP/1.1\r\nHost: x\r\n\r\n").split("\r\n\r\n")

      assert_match(/\AHTTP\/1.1 200 OK\r\nContent-Type: application\/json\r\nContent-Length: #{body.bytesize}\r\n/,
        head)
      assert_equal({"workers" => 2}, JSON.parse(body))
      assert_equal 0o600, File.stat(path).mode & 0o777
    end
  end

  def test_it_answers_with_the_tasks
    control(tasks: -> { [{name: "a"}] }) do |path|
      assert_equal [{"name" => "a"}],
        JSON.parse(answer_from(path, "GET /tasks HTTP/1.0\r\n\r\n").split("\r\n\r\n").last)
    end
    control do |path|
      assert_match(/\AHTTP\/1.1 404.*stats or GET \/metrics\n\z/m,
        answer_from(path, "GET /tasks HTTP/1.0\r\n\r\n"))
    end
  end

  def test_whether_it_is_alive_and_ready
    control(live: -> {}, ready: -> { "it stops" }) do |path|
      assert_match(/\AHTTP\/1.1 200 OK\r\n.*\r\n\r\nok\n\z/m, answer_from(path, "GET /live HTTP/1.0\r\n\r\n"))
      assert_match(/\AHTTP\/1.1 503 .*\r\n\r\nit stops\n\z/m, answer_from(path, "GET /ready HTTP/1.0\r\n\r\n"))
    end
  end

  def test_it_purges
    asked = []
    control(purge: ->(path) { asked << path and {purged: 2} }) do |path|
      assert_equal({"purged" => 2},
        JSON.parse(answer_from(path, "POST /purge?path=/a%20b/* HTTP/1.0\r\n\r\n").split("\r\n\r\n").last))
      assert_equal ["/a b/*"], asked
      ["a", "", "/a%0Ab", "/%"].each do |wrong|
        assert_match(/\AHTTP\/1.1 400/, answer_from(path, "POST /purge?path=#{wrong} HTTP/1.0\r\n\r\n"), wrong)
      end
      ["GET /purge?path=/a", "POST /purge", "POST /stats"].each do |wrong|
        assert_match(/\AHTTP\/1.1 404.*or POST \/purge\?path=\n\z/m,
          answer_from(path, "#{wrong} HTTP/1.0\r\n\r\n"), wrong)
      end
      assert_equal 1, asked.size
    end
    control(purge: ->(_) { "worker 1 does not answer" }) do |path|
      assert_match(/\AHTTP\/1.1 503 .*\r\n\r\nworker 1 does not answer\n\z/m,
        answer_from(path, "POST /purge?path=/ HTTP/1.0\r\n\r\n"))
    end
    control { |path| assert_match(/\AHTTP\/1.1 404/, answer_from(path, "POST /purge?path=/ HTTP/1.0\r\n\r\n")) }
  end

  def test_it_asks_a_reactor
    threshold, Pelton.watchdog = Pelton.watchdog, nil
    Pelton.run do
      reactor = Pelton::Reactor.current
      asked = Thread.new { Pelton::Control.in_reactor(reactor) { sleep(0.001) && Pelton.running?.to_s } }
      sleep 0.001 while asked.alive?

      assert_equal "true", asked.value
      asked = Thread.new { Pelton::Control.in_reactor(reactor) { "late" } }
      blocking { asked.join } # the loop does not turn meanwhile

      assert_match(/the loop has not answered/, asked.value)
    end
  ensure
    Pelton.watchdog = threshold
  end

  def test_for_prometheus
    control do |path|
      head, body = answer_from(path, "GET /metrics?x HTTP/1.1\r\nHost: x\r\n\r\n").split("\r\n\r\n")

      assert_match(/\r\nContent-Type: text\/plain; version=0.0.4; charset=utf-8\r\n/, head)
      assert_equal "n 1\n", body
    end
  end

  def test_other_requests_and_clients_that_leave_do_no_harm
    control do |path|
      assert_match(/\AHTTP\/1.1 404/, answer_from(path, "GET / HTTP/1.1\r\n\r\n"))
      assert_match(/\AHTTP\/1.1 404/, answer_from(path, "GET /statistics HTTP/1.1\r\n\r\n"))
      assert_match(/\AHTTP\/1.1 404/, answer_from(path, "\0\xFF"))
      UNIXSocket.open(path).close
      assert_match(/\AHTTP\/1.1 200/, answer_from(path, "GET /stats HTTP/1.0\r\n\r\n"))
    end
  end

  # The first one cannot be answered before the silent ones, or after their second.
  def test_silent_clients_hold_up_nobody
    asked = Thread::Queue.new
    control(live: -> { asked.pop && nil }, ready: -> {}) do |path|
      waiting = UNIXSocket.open(path).tap { |socket| socket.write("GET /live HTTP/1.0\r\n\r\n") }
      silent = Array.new(8) { UNIXSocket.open(path) }
      assert_match(/ 200 OK/, answer_from(path, "GET /ready HTTP/1.0\r\n\r\n"))
      assert_nil waiting.wait_readable(0), "it waits for its answer"
      asked << true
      assert_match(/ 200 OK/, waiting.read)
    ensure
      [*silent, *waiting].each(&:close)
    end
  end

  def test_more_clients_than_are_allowed_close_the_first
    asked = Thread::Queue.new
    control(live: -> { asked.pop && nil }) do |path|
      client = -> { UNIXSocket.open(path).tap { |socket| socket.write("GET /live HTTP/1.0\r\n\r\n") } }
      clients = [client.call]
      eventually { asked.num_waiting == 1 } # the first one's request was read
      Pelton::Control::MOST.times { clients << client.call }
      assert_equal "", clients.first.read
      (clients.size - 1).times { asked << true }
      assert_equal [true], clients.drop(1).map { |client| client.read.include?(" 200 OK") }.uniq
    ensure
      clients&.each(&:close)
    end
  end

  def test_an_answer_of_any_length_arrives
    text = "0123456789\n" * 100_000
    control(metrics: -> { text }) do |path|
      assert_equal text, answer_from(path, "GET /metrics HTTP/1.0\r\n\r\n").split("\r\n\r\n", 2).last
    end
  end

  def test_an_error_of_the_stats_is_logged_and_ends_nothing
    log = StringIO.new
    Pelton.logger = log
    control(metrics: -> { raise "no stats" }) do |path|
      assert_empty answer_from(path, "GET /metrics HTTP/1.0\r\n\r\n")
      assert_match(/\AHTTP\/1.1 200/, answer_from(path, "GET /stats HTTP/1.0\r\n\r\n"))
    end
    assert_match(/the control socket cannot answer: no stats \(RuntimeError\)/, log.string)
  ensure
    Pelton.logger = $stderr
  end

  def test_the_path_is_taken_over_and_removed
    Dir.mktmpdir do |folder|
      UNIXServer.new("#{folder}/s").close
      control_on("unix://#{folder}/s").close

      refute_path_exists "#{folder}/s"
      File.write("#{folder}/config.ru", "run App")

      assert_match(%r{- the control socket #{folder}/config.ru\z},
        assert_raises(Errno::EADDRINUSE) { control_on("#{folder}/config.ru") }.message)
      assert_path_exists "#{folder}/config.ru"
    end
  end

  def test_on_tcp
    control = control_on("tcp://127.0.0.1:0")
    port = control.address[%r{\Atcp://127.0.0.1:(\d+)\z}, 1]

    assert_match(/\AHTTP\/1.1 200/,
      answer_from(port, "GET /stats HTTP/1.0\r\n\r\n"))
  ensure
    control&.close
  end

  def test_an_unknown_kind_of_address
    assert_match(/http:\/\/x/, assert_raises(ArgumentError) { control_on("http://x") }.message)
    assert_match(/not speak TLS/, assert_raises(ArgumentError) { control_on("ssl://127.0.0.1:0") }.message)
  end

  private

  def control_on(address, metrics: -> { "n 1\n" }, **options)
    Pelton::Control.new(address, stats: -> { {workers: 2} }, metrics: metrics, **options)
  end

  def control(**options)
    Dir.mktmpdir do |folder|
      control = control_on("#{folder}/s", **options)
      yield "#{folder}/s"
    ensure
      control.close
    end
  end
end
