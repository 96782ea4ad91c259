# frozen_string_literal: true

require_relative "../../support/http/peer"

# Connections that the application takes over: by rack.hijack, or with an upgrade.
class HTTPHijackTest < PeltonTest
  include HttpPeer

  # As an IO by Rack's means, and as a stream.
  def test_hijacking_gives_the_connection_and_what_was_read_behind_the_head
    {"rack.hijack" => :call, "async.callback" => :hijack}.each do |key, method|
      app = lambda do |env|
        stream = env[key].public_send(method)
        stream.write("raw:", stream.readpartial(100))
        stream.close
        [500, {}, ["ignored"]]
      end
      serving(app, lint: false) do
        assert_equal "raw:behind", peer.say("GET / HTTP/1.1\nHost: h\n\n", "behind").io.read
        assert_equal 0, server.stats[:running]
      end
    end
  end

  # As Action Cable and faye-websocket do: they take the connection, and then tell Thin that they have it.
  def test_who_has_hijacked_and_announces_an_upgrade_keeps_what_is_his
    app = lambda do |env|
      io = env["rack.hijack"].call
      env["async.callback"].call([101, {}, io])
      io.write("mine")
      io.close
      [-1, {}, []]
    end
    serving(app, lint: false) { assert_equal "mine", peer.say("GET / HTTP/1.1\nHost: h\n\n").io.read }
  end

  # The socket takes little, so the first response keeps the handler waiting.
  def test_a_connection_that_breaks_while_it_is_hijacked_is_closed
    taken = error = nil
    app = lambda do |env|
      next [200, {}, ["x" * 60_000]] if env["PATH_INFO"] == "/1"
      taken = true
      error = assert_raises(Pelton::ClosedError, Pelton::ConnectionError) { env["rack.hijack"].call }
      [200, {}, []]
    end
    theirs, ours = UNIXSocket.pair
    ours.setsockopt(:SOCKET, :SNDBUF, 1)
    stream = nil
    serving(app, lint: false) do
      server.serve(stream = Pelton::Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno))
      theirs.write("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
      sleep 0.002 until taken
      theirs.close
      sleep 0.002 until error
    end

    assert_predicate stream, :closed?
  end

  def test_a_hijacked_io_outlives_the_handler
    app = lambda do |env|
      stream = env["rack.hijack"].call
      Pelton.add_timer(0.01) do
        stream.write("later")
        stream.close
      end
      [200, {}, []]
    end
    serving(app) { assert_equal "later", peer.say("GET / HTTP/1.1\nHost: h\n\n").io.read }
  end

  def test_partial_hijacking_gives_the_stream_behind_the_head
    hijack = lambda do |stream|
      stream.write("raw")
      stream.close
    end
    serving(->(_env) { [200, {"a" => "b", "rack.hijack" => hijack}, []] }) do
      response = peer.get("/")

      assert_equal "raw", response.body
      assert_equal %w[b close], [response["a"], response["connection"]]
      assert_nil response["transfer-encoding"]
    end
  end

  # The response has a body that is not the one beside it.
  def test_partial_hijacking_with_a_length
    hijack = ->(stream) { stream.write("raw") && stream.close }
    serving(->(_env) { [200, {"content-length" => "3", "rack.hijack" => hijack}, []] }, lint: false) do
      assert_equal "raw", peer.get("/").body
    end
  end

  def test_who_fails_with_a_connection_of_its_own_leaves_none_open
    serving(->(_env) { [200, {"rack.hijack" => ->(_stream) { raise "oh no" }}, []] }) do
      assert_match(/\AHTTP|\A\z/, answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n"))
    rescue Errno::ECONNRESET
      nil
    end
    assert_equal ["oh no"], reported.map(&:message)
  end

  UPGRADE = "GET / HTTP/1.1\nHost: h\nConnection: upgrade\nUpgrade: chat, x\n\n"

  # By the headers of the protocol, or by rack.protocol (Rack 3.1), which asks the server for the upgrade: its status is
  # 101.
  def test_upgrades_to_the_protocol_that_the_application_has_chosen
    [[101, {"upgrade" => "chat", "connection" => "upgrade"}], [101, {"rack.protocol" => "chat"}],
      [200, {"rack.protocol" => "chat"}]].each do |status, headers|
      body = proc { |stream| stream.write("echo:", stream.readpartial(100)) && stream.close }
      app = lambda do |env|
        assert_equal %w[chat x], env["rack.protocol"]
        [status, headers.dup, body]
      end
      serving(app, lint: false) do
        connection = peer.say(UPGRADE)
        response = connection.response

        assert_equal 101, response.status
        assert_equal "chat", response["upgrade"]
        assert_equal "upgrade", response["connection"]
        connection.io.write("hi")

        assert_equal "echo:hi", connection.io.read
      end
    end
  end

  def test_does_not_upgrade_to_a_protocol_that_was_not_offered
    serving(->(_env) { [101, {"rack.protocol" => "other"}, proc {}] }, lint: false) do
      assert_equal 500, peer.say(UPGRADE).response.status
    end
    assert_match(/has not offered the protocol "other"/, reported.first.message)
  end

  def test_no_upgrade_without_success
    serving(->(_env) { [403, {"rack.protocol" => "chat"}, ["no"]] }, lint: false) do
      response = peer.say(UPGRADE).response

      assert_equal 403, response.status
      assert_equal "no", response.body
      assert_nil response["upgrade"]
    end
  end
end
