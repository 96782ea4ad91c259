# frozen_string_literal: true

require "timeout"
require_relative "../../support/http/peer"

# What an application may do to the server that calls it, and to the process.
class HTTPApplicationTest < PeltonTest
  include HttpPeer

  def test_response_finished_is_given_the_error_of_the_application
    finished = []
    app = lambda do |env|
      env["rack.response_finished"] << ->(_env, status, _headers, error) { finished << [status, error&.message] }
      raise "oh no" if env["PATH_INFO"] == "/raises"
      (env["PATH_INFO"] == "/cut") ? [200, {}, Enumerator.new { raise "too late" }] : HELLO.call(env)
    end
    serving(app, lint: false) do
      connection = peer
      connection.get("/raises")
      connection.get("/")
      assert_raises(EOFError, NoMethodError) { connection.get("/cut") }
    end

    assert_equal [[500, "oh no"], [200, nil], [200, "too late"]], finished
    assert_equal ["oh no", "too late"], reported.map(&:message)
  end

  def test_it_stops_the_server
    stopped = nil
    serving(->(env) { (stopped = server.stop(timeout: 0.01)) || HELLO.call(env) }) do
      response = peer.get("/")

      assert_equal "hello", response.body
      assert_equal "close", response["connection"]
      assert_equal false, stopped # its own request was under way
    end
  end

  def test_it_closes_the_listener
    serving(->(env) { server.listeners.each(&:close) && HELLO.call(env) }) do
      assert_equal "hello", peer.get("/").body
      assert_raises(Errno::ECONNREFUSED) { peer }
    end
  end

  # The stream that was taken from one request is closed by another one's handler.
  def test_it_closes_another_ones_connection
    taken = nil
    app = lambda do |env|
      if env["PATH_INFO"] == "/take"
        taken = env["rack.hijack"].hijack
      else
        taken.close
        HELLO.call(env)
      end
    end
    serving(app, lint: false) do
      first = peer.say("GET /take HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until taken

      assert_equal "hello", peer.get("/").body
      assert_predicate first, :ended?
      assert_equal "hello", peer.get("/").body
    end
  end

  # A descriptor whose number is another connection's in the same turn: no event of the one is taken for the other's.
  def test_connections_come_and_go_in_one_turn
    serving(HELLO) do
      20.times do
        peers = Array.new(20) { peer.say("GET / HTTP/1.1\nHost: h\n\n") }
        peers.each_slice(2) { |one, _| one.close }
        fresh = Array.new(10) { peer.say("GET / HTTP/1.1\nHost: h\n\n") }

        assert_equal ["hello"], (peers.each_slice(2).map(&:last) + fresh).map { |one| one.response.body }.uniq
        (peers + fresh).each { |one| one.close unless one.io.closed? }
      end
    end
  end

  def test_its_log_raises
    serving(HELLO, log: ->(*) { raise "no log" }) do
      connection = peer

      2.times { assert_equal "hello", connection.get("/").body }
    end
    assert_equal ["no log"] * 2, reported.map(&:message)
  end

  # Others are served meanwhile, and no program is given a socket.
  def test_it_runs_programs
    app = lambda do |env|
      (env["PATH_INFO"] == "/") ? HELLO.call(env) : [200, {}, [`sleep 0.1; ls -l /proc/self/fd`]]
    end
    sockets = `ls -l /proc/self/fd`.scan("socket:").size
    serving(app) do
      waiting = peer.say("GET /program HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until server.stats[:running] == 1

      assert_equal "hello", peer.get("/").body
      assert_equal 1, server.stats[:running]
      assert_equal sockets, waiting.response.body.scan("socket:").size
    end
  end

  def test_it_forks
    app = lambda do |_env|
      reader, writer = IO.pipe
      pid = fork { writer.write("child") && exit!(0) }
      writer.close
      Process.wait(pid)
      [200, {}, [reader.read]]
    end
    serving(app) { assert_equal %w[child child], Array.new(2) { peer.get("/").body } }
  end

  def test_it_times_out_by_itself
    app = lambda do |env|
      Timeout.timeout(0.01) { sleep }
    rescue Timeout::Error
      HELLO.call(env)
    end
    serving(app) do
      assert_equal ["hello"] * 20, peer.then { |connection| Array.new(20) { connection.get("/").body } }
    end
  end

  # The lock is held while its holder waits: the others wait for it, and not for ever.
  def test_its_handlers_wait_for_each_other
    lock = Mutex.new
    inside = most = 0
    app = lambda do |env|
      lock.synchronize do
        most = [most, inside += 1].max
        sleep 0.001
        inside -= 1
      end
      HELLO.call(env)
    end
    serving(app) do
      peers = Array.new(20) { peer.say("GET / HTTP/1.1\nHost: h\n\n") }

      assert_equal ["hello"], peers.map { |one| one.response.body }.uniq
    end
    assert_equal 1, most
  end

  # A client that has sent all and is gone has still sent it.
  def test_its_client_hangs_up_behind_the_body
    read = nil
    serving(->(env) { sleep(0.01) && (read = env["rack.input"].read) && [200, {}, []] }) do
      body = "x" * 100_000
      connection = peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: #{body.bytesize}\n\n", body)
      connection.close
      eventually { read }

      assert_equal body.bytesize, read.bytesize
    end
  end
end
