# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/http_peer"

class HTTPExchangeTest < PeltonTest
  include HttpPeer

  # ---- deferred answers. Rack::Lint knows none.

  ASYNC = [-1, {}, []].freeze

  def test_an_answer_that_comes_later
    app = lambda do |env|
      Pelton.add_timer(0.01) { env["async.callback"].call([200, {"a" => "b"}, ["later"]]) }
      ASYNC
    end
    serving(app, lint: false) do
      connection = peer

      2.times { assert_equal ["later", "b"], connection.get("/").then { |response| [response.body, response["a"]] } }
    end
  end

  def test_a_handler_that_throws
    app = lambda do |env|
      Pelton.next_tick { env["async.callback"].call([200, {}, ["thrown"]]) }
      throw :async
    end
    serving(app, lint: false) { assert_equal "thrown", peer.get("/").body }
  end

  def test_an_answer_before_the_handler_has_returned
    app = lambda do |env|
      env["async.callback"].call([200, {}, ["early"]])
      ASYNC
    end
    serving(app, lint: false) { assert_equal "early", peer.get("/").body }
  end

  # The handler's own answer counts, and among those that came before it the first.
  def test_answers_before_the_handler_has_returned_that_are_not_sent_are_closed
    closed = []
    app = lambda do |env|
      %w[a b].each do |name|
        body = Enumerator.new { |parts| parts << name }
        body.define_singleton_method(:close) { closed << name }
        env["async.callback"].call([200, {}, body])
      end
      {"/own" => [200, {}, ["own"]], "/async" => ASYNC}.fetch(env["PATH_INFO"]) { raise "none" }
    end
    serving(app, lint: false) do
      connection = peer

      assert_equal ["own", %w[b a]], [connection.get("/own").body, closed.slice!(0..)]
      assert_equal ["a", %w[b a]], [connection.get("/async").body, closed.slice!(0..)]
      assert_equal [500, %w[b a]], [connection.get("/raise").status, closed.slice!(0..)]
    end
  end

  # As Sinatra passes on what its route has returned.
  def test_an_answer_that_says_again_that_it_comes_later
    app = lambda do |env|
      Pelton.next_tick do
        env["async.callback"].call(ASYNC)
        Pelton.next_tick { env["async.callback"].call([200, {}, ["later"]]) }
      end
      ASYNC
    end
    serving(app, lint: false) { assert_equal "later", peer.get("/").body }

    assert_empty reported
  end

  def test_a_second_answer_changes_nothing
    closed = 0
    body = Object.new
    body.define_singleton_method(:each) { |&block| block.call("never") }
    body.define_singleton_method(:close) { closed += 1 }
    callbacks = []
    app = lambda do |env|
      callbacks << env["async.callback"]
      Pelton.next_tick { env["async.callback"].call([200, {}, [env["PATH_INFO"]]]) }
      ASYNC
    end
    serving(app, lint: false) do
      connection = peer

      assert_equal "/1", connection.get("/1").body
      callbacks[0].call([200, {}, body])
      connection.say("GET /2 HTTP/1.1\nHost: h\n\n")
      callbacks[0].call([200, {}, body])

      assert_equal "/2", connection.response.body
    end
    assert_equal 2, closed
  end

  def test_deferred_answers_keep_their_order
    app = lambda do |env|
      Pelton.add_timer((env["PATH_INFO"] == "/1") ? 0.02 : 0.001) { env["async.callback"].call([200, {}, [env["PATH_INFO"]]]) }
      ASYNC
    end
    serving(app, lint: false) do
      connection = peer.say("GET /1 HTTP/1.1\nHost: h\n\nGET /2 HTTP/1.1\nHost: h\n\n")

      assert_equal %w[/1 /2], [connection.response.body, connection.response.body]
    end
  end

  # ---- async.close, as Thin's users know it.

  def test_who_wants_to_know_that_the_client_has_left
    told = []
    answer = nil
    app = lambda do |env|
      env["async.close"].callback { told << :close }.errback { told << :never }
      answer = env["async.callback"]
      ASYNC
    end
    serving(app, lint: false) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until answer
      assert_empty told
      connection.io.close_write
      sleep 0.002 until told.any?
      answer.call([200, {}, ["still there"]])

      assert_equal "still there", connection.response.body
      connection.ended?
    end
    assert_equal [:close], told
  end

  def test_a_handler_that_waits_is_told_as_well
    told = nil
    app = lambda do |env|
      env["async.close"].callback { told = true }
      sleep 0.002 until told
      [200, {}, ["told"]]
    end
    serving(app) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      connection.io.close_write

      assert_equal "told", connection.response.body
    end
  end

  # A client that closes its socket looks like one that has only shut its side.
  def serve_one_that_never_answers(theirs, ours)
    told = false
    app = lambda do |env|
      env["async.close"].callback { told = true }
      ASYNC
    end
    serving(app, lint: false) do
      server.serve(Pelton::Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno))
      theirs.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      sleep 0.002 until server.stats[:running] == 1
      theirs.close_write
      sleep 0.002 until told
      yield
      sleep 0.002 until server.stats[:connections].zero?
    end
  ensure
    theirs.close
  end

  def test_a_client_on_a_unix_socket_that_has_left_is_not_waited_for
    theirs, ours = UNIXSocket.pair
    serve_one_that_never_answers(theirs, ours) do
      assert_equal 1, server.stats[:connections]
      theirs.close
    end
  end

  # Its system says so when it is asked, after a minute.
  def test_a_client_that_may_have_left_is_asked
    TCPServer.open("127.0.0.1", 0) do |listener|
      theirs = TCPSocket.new("127.0.0.1", listener.addr[1])
      ours = listener.accept
      serve_one_that_never_answers(theirs, ours) do
        assert_predicate ours.getsockopt(:SOCKET, :KEEPALIVE), :bool
        theirs.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
        theirs.close
      end
    end
  end

  def test_the_end_of_a_response_is_told_as_well
    told = []
    close = nil
    app = lambda do |env|
      close = env["async.close"]
      close.callback { raise "mine" }
      close.callback { told << env["PATH_INFO"] }
      [200, {}, ["x"]]
    end
    serving(app) do
      connection = peer
      %w[/1 /2].each { |path| connection.get(path) }
      sleep 0.002 until told.size == 2
      close.callback { told << "late" }

      assert_equal %w[/1 /2 late], told
    end
    assert_equal %w[mine mine], reported.map(&:message)
  end

  # Nobody waits for an answer to a client that is gone: its place is free, and what comes later is dropped.
  def test_a_client_that_leaves_before_its_answer
    callback = nil
    finished = []
    app = lambda do |env|
      env["rack.response_finished"] << ->(_env, _status, _headers, error) { finished << error }
      callback = env["async.callback"]
      ASYNC
    end
    serving(app, lint: false) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until callback
      connection.io.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
      connection.close
      sleep 0.002 until finished.any?

      assert_equal 0, server.stats[:running]
      assert_nil callback.call([200, {}, ["late"]])
    end
    assert_kind_of Pelton::ClosedError, finished.first
    assert_empty reported
  end

  # Whoever wants to answer later need not do so, nor write into a stream, for the connection to be given up.
  def test_a_client_that_leaves_while_its_handler_waits
    [ASYNC, [200, {}, proc {}]].each do |returned|
      gate = Thread::Queue.new
      app = ->(_env) { gate.pop && returned }
      serving(app, lint: false) do
        connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
        sleep 0.002 until gate.num_waiting == 1
        connection.io.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
        connection.close
        Pelton.spawn { gate << 1 }
        sleep 0.002 until server.stats.values_at(:connections, :running) == [0, 0]
      end
      assert_empty reported
    end
  end

  # It is sent at the tick's end, when the connection of the next request may be over.
  def test_what_was_answered_before_an_abort_arrives
    fails = Enumerator.new { |parts| (parts << "a") && raise("on purpose") }
    app = lambda do |env|
      case env["PATH_INFO"]
      when "/first" then [200, {}, ["first"]]
      when "/abort" then env["async.callback"].abort && ASYNC
      when "/fail" then [200, {}, fails]
      when "/long" then [200, {"content-length" => "1"}, proc { |stream| stream.write("ab") }]
      end
    end
    serving(app, lint: false) do
      %w[/abort /fail /long].each do |path|
        connection = peer.say("GET /first HTTP/1.1\nHost: h\n\nGET #{path} HTTP/1.1\nHost: h\n\n")

        assert_equal "first", connection.response.body
        refute_match(/0\r\n\r\n\z/, connection.io.read)
      end
    end
  end

  def test_a_stream_whose_client_is_gone
    stream = nil
    body = proc { |given| stream = given }
    serving(->(_env) { [200, {}, body] }) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\n\n")
      sleep 0.002 until stream
      connection.io.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
      connection.close
      sleep 0.002 until server.stats[:connections].zero?

      assert_raises(Pelton::ClosedError) { stream.write("x") }
      stream.close
    end
    assert_empty reported
  end

  # ---- hijacking

  def test_hijacking_gives_an_io_and_what_was_read_behind_the_head
    app = lambda do |env|
      stream = env["rack.hijack"].call
      stream.write("raw:", stream.readpartial(100))
      stream.close
      [500, {}, ["ignored"]]
    end
    serving(app) do
      assert_equal "raw:behind", peer.say("GET / HTTP/1.1\nHost: h\n\n", "behind").io.read
      assert_equal 0, server.stats[:running]
    end
  end

  def test_hijacking_as_a_stream
    app = lambda do |env|
      stream = env["async.callback"].hijack
      stream.write("raw:", stream.readpartial(100))
      stream.close
    end
    serving(app, lint: false) do
      assert_equal "raw:behind", peer.say("GET / HTTP/1.1\nHost: h\n\n", "behind").io.read
      assert_equal 0, server.stats[:running]
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
    assert_empty reported
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

  def test_upgrades
    app = lambda do |env|
      body = proc do |stream|
        stream.write("echo:", stream.readpartial(100))
        stream.close
      end
      [101, {"upgrade" => env["rack.protocol"].first, "connection" => "upgrade"}, body]
    end
    serving(app, lint: false) do
      connection = peer.say("GET / HTTP/1.1\nHost: h\nConnection: upgrade\nUpgrade: chat, x\n\n")
      response = connection.response

      assert_equal [101, "chat"], [response.status, response["upgrade"]]
      connection.io.write("hi")

      assert_equal "echo:hi", connection.io.read
    end
  end

  # ---- early hints

  def test_early_hints
    app = lambda do |env|
      env["rack.early_hints"].call("link" => ["</a>; rel=preload", "</b>; rel=preload"])
      HELLO.call(env)
    end
    serving(app) do
      connection = peer
      hints = connection.get("/")

      assert_equal [103, ["</a>; rel=preload", "</b>; rel=preload"]], [hints.status, hints["link"]]
      assert_equal "hello", connection.response.body
      assert_equal "hello", peer.say("GET / HTTP/1.0\n\n").response.body
    end
  end

  # Nothing of them is sent: half a head would make the response a part of it (puma CVE-2020-5249).
  def test_hints_that_would_be_another_header
    bad = [{"link" => "a\r\nset-cookie: b"}, {"link" => "</a>", "a\r\nset-cookie" => "b"}, {"link" => ["</a>", "\0"]}, {"" => "a"}, {1 => "a"},
      {"link" => nil}, {"content-length" => "5"}]
    app = lambda do |env|
      env["rack.early_hints"].call(bad[env["PATH_INFO"][1..].to_i])
      HELLO.call(env)
    rescue ArgumentError, TypeError
      [200, {}, ["refused"]]
    end
    serving(app, lint: false) do
      connection = peer
      bad.each_index do |index|
        response = connection.get("/#{index}")

        assert_equal [200, "refused"], [response.status, response.body], bad[index].inspect
        assert_nil response["link"]
      end
    end
  end

  # ---- streaming bodies

  def test_streaming_bodies
    app = lambda do |env|
      body = proc do |stream|
        stream << "a" << "b"
        stream.flush
        sleep 0.005
        stream.write("c", "d")
        stream.close
      end
      [200, {}, body]
    end
    serving(app) do
      connection = peer
      response = connection.get("/")

      assert_equal ["abcd", "chunked"], [response.body, response["transfer-encoding"]]
      assert_equal "abcd", connection.get("/").body
    end
  end

  def test_a_streaming_body_reads_the_request
    body = proc do |stream|
      while (part = stream.read(2))
        stream.write(part.upcase)
      end
      stream.close
    end
    serving(->(_env) { [200, {}, body] }) do
      assert_equal "ABCDE", peer.say("POST / HTTP/1.1\nHost: h\nContent-Length: 5\n\n", "abcde").response.body
    end
  end

  def test_a_streaming_body_that_goes_on_after_the_call
    body = proc do |stream|
      Pelton.add_timer(0.01) do
        stream.write("later")
        stream.close
        stream.close
      end
    end
    serving(->(_env) { [200, {}, body] }) { assert_equal "later", peer.get("/").body }
  end

  def test_trailers
    body = proc do |stream|
      stream.write("x")
      stream.finish("digest" => "1")
      stream.close
    end
    serving(->(_env) { [200, {}, body] }, lint: false) { assert_equal({"digest" => "1"}, peer.get("/").trailers) }
  end

  # The body has not ended then: whoever has rescued it may end it.
  def test_malformed_trailers_are_refused_as_a_whole
    bad = [{"a" => "b\r\nc: d"}, {"a" => "b", "c:" => "d"}, {"Content-Length" => "5"}, {"transfer-encoding" => "chunked"}, {"host" => "h"}, [["a", "b"]], 5]
    body = proc do |stream|
      stream.write("x")
      bad.each { |trailers| assert_raises(ArgumentError, TypeError) { stream.finish(trailers) } }
      stream.finish("good" => "1")
    end
    serving(->(_env) { [200, {}, body] }, lint: false) do
      connection = peer

      2.times { assert_equal({"good" => "1"}, connection.get("/").trailers) }
    end
    assert_empty reported
  end

  def test_an_exchange_that_is_over
    exchange = nil
    serving(->(env) { (exchange = env["rack.hijack"]) && HELLO.call(env) }, lint: false) do
      peer.get("/")

      refute_predicate exchange, :open?
      assert_raises(Pelton::ClosedError) { exchange.write("x") }
      assert_raises(Pelton::ClosedError) { exchange.call }
      assert_nil exchange.finish
      assert_nil exchange.abort
    end
  end
end
