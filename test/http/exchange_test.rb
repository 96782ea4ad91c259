# frozen_string_literal: true

require_relative "../support/http/peer"

class HTTPExchangeTest < PeltonTest
  include HttpPeer

  # ---- deferred answers. Rack::Lint knows none.

  def test_an_answer_that_comes_later
    app = answering_later do |env|
      Pelton.add_timer(0.01) { env["async.callback"].call([200, {"a" => "b"}, ["later"]]) }
    end
    serving(app, lint: false) do
      connection = peer

      2.times do
        response = connection.get("/")
        assert_equal "later", response.body
        assert_equal "b", response["a"]
      end
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
    app = answering_later { |env| env["async.callback"].call([200, {}, ["early"]]) }
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

      assert_equal "own", connection.get("/own").body
      assert_equal %w[b a], closed.slice!(0..)
      assert_equal "a", connection.get("/async").body
      assert_equal %w[b a], closed.slice!(0..)
      assert_equal 500, connection.get("/raise").status
      assert_equal %w[b a], closed.slice!(0..)
    end
    assert_equal ["none"], reported.map(&:message)
  end

  # As Sinatra passes on what its route has returned.
  def test_an_answer_that_says_again_that_it_comes_later
    app = answering_later do |env|
      Pelton.next_tick do
        env["async.callback"].call(ASYNC)
        Pelton.next_tick { env["async.callback"].call([200, {}, ["later"]]) }
      end
    end
    serving(app, lint: false) { assert_equal "later", peer.get("/").body }
  end

  def test_a_second_answer_changes_nothing
    closed = 0
    body = Object.new
    body.define_singleton_method(:each) { |&block| block.call("never") }
    body.define_singleton_method(:close) { closed += 1 }
    callbacks = []
    app = answering_later do |env|
      callbacks << env["async.callback"]
      Pelton.next_tick { env["async.callback"].call([200, {}, [env["PATH_INFO"]]]) }
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

  # ---- early hints

  def test_early_hints
    app = lambda do |env|
      env["rack.early_hints"].call("link" => ["</a>; rel=preload", "</b>; rel=preload"])
      HELLO.call(env)
    end
    serving(app, early_hints: true) do
      connection = peer
      hints = connection.get("/")

      assert_equal 103, hints.status
      assert_equal ["</a>; rel=preload", "</b>; rel=preload"], hints["link"]
      assert_equal "hello", connection.response.body
      assert_equal "hello", peer.say("GET / HTTP/1.0\n\n").response.body
    end
  end

  # Rails sends a 103 with each stylesheet where it may, and nginx 1.22 then delivers no page.
  def test_early_hints_are_off_unless_asked_for
    seen = []
    serving(->(env) { HELLO.call(env.tap { seen << env.key?("rack.early_hints") }) }) { 2.times { peer.get("/") } }

    assert_equal [false, false], seen
  end

  # Nothing of them is sent: half a head would make the response a part of it (puma CVE-2020-5249).
  def test_hints_that_would_be_another_header
    bad = [{"link" => "a\r\nset-cookie: b"}, {"link" => "</a>", "a\r\nset-cookie" => "b"}, {"link" => ["</a>", "\0"]},
      {"" => "a"}, {1 => "a"},
      {"link" => nil}, {"content-length" => "5"}]
    app = lambda do |env|
      env["rack.early_hints"].call(bad[env["PATH_INFO"][1..].to_i])
      HELLO.call(env)
    rescue ArgumentError, TypeError
      [200, {}, ["refused"]]
    end
    serving(app, lint: false, early_hints: true) do
      connection = peer
      bad.each_index do |index|
        response = connection.get("/#{index}")

        assert_equal 200, response.status, bad[index].inspect
        assert_equal "refused", response.body, bad[index].inspect
        assert_nil response["link"]
      end
    end
  end

  # ---- the end

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
