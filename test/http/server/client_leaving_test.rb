# frozen_string_literal: true

require_relative "../../support/http/peer"

# Clients that leave before their response is complete: async.close, as Thin's users know it, and what is aborted.
class HTTPClientLeavingTest < PeltonTest
  include HttpPeer

  def test_who_wants_to_know_that_the_client_has_left
    told = []
    answer = nil
    app = answering_later do |env|
      env["async.close"].callback { told << :close }.errback { told << :never }
      answer = env["async.callback"]
    end
    serving(app, lint: false) do
      connection = peer.say(GET)
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
      connection = peer.say(GET)
      connection.io.close_write

      assert_equal "told", connection.response.body
    end
  end

  # A client that closes its socket looks like one that has only shut its side.
  def serve_one_that_never_answers(theirs, ours)
    told = false
    app = answering_later { |env| env["async.close"].callback { told = true } }
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
    app = answering_later do |env|
      env["rack.response_finished"] << ->(_env, _status, _headers, error) { finished << error }
      callback = env["async.callback"]
    end
    serving(app, lint: false) do
      connection = peer.say(GET)
      sleep 0.002 until callback
      connection.reset
      sleep 0.002 until finished.any?

      assert_equal 0, server.stats[:running]
      assert_nil callback.call([200, {}, ["late"]])
    end
    assert_kind_of Pelton::ClosedError, finished.first
  end

  # Whoever wants to answer later need not do so, nor write into a stream, for the connection to be given up.
  def test_a_client_that_leaves_while_its_handler_waits
    [ASYNC, [200, {}, proc {}]].each do |returned|
      gate = Thread::Queue.new
      app = ->(_env) { gate.pop && returned }
      serving(app, lint: false) do
        connection = peer.say(GET)
        sleep 0.002 until gate.num_waiting == 1
        connection.reset
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
    assert_equal 2, reported.size
  end

  # The framing of a response is not that of the next one: here the connection's end says nothing of a body.
  def test_a_body_that_the_application_framed_arrives_before_an_abort
    app = lambda do |env|
      next env["async.callback"].abort && ASYNC if env["PATH_INFO"] == "/abort"
      [200, {"transfer-encoding" => "chunked"}, ["5\r\nfirst\r\n0\r\n\r\n"]]
    end
    serving(app, lint: false) do
      connection = peer.say("GET /first HTTP/1.1\nHost: h\n\nGET /abort HTTP/1.1\nHost: h\n\n")

      assert_equal "first", connection.response.body
    end
  end

  def test_a_stream_whose_client_is_gone
    stream = nil
    body = proc { |given| stream = given }
    serving(->(_env) { [200, {}, body] }) do
      connection = peer.say(GET)
      sleep 0.002 until stream
      connection.reset
      sleep 0.002 until server.stats[:connections].zero?

      assert_raises(Pelton::ClosedError) { stream.write("x") }
      stream.close
    end
  end
end
