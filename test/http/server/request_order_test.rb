# frozen_string_literal: true

require_relative "../../support/http/peer"

# Requests that have begun go first (test/reactor/request_order_test.rb has the rules, without HTTP).
class HTTPRequestOrderTest < PeltonTest
  include HttpPeer

  # The order shall not depend on how fast the machine is.
  def serving(...)
    Pelton::Reactor.current._seniority = 1_000
    Pelton::Reactor.current._short_wait = 0
    super
  ensure
    Pelton::Reactor.current._seniority = Pelton::Reactor.current._short_wait = nil
  end

  REQUEST = "GET /%s HTTP/1.1\nHost: h\n\n"

  # Computes for longer than a tick, waits for an event that comes at once, and computes again.
  def two_parts
    @log = []
    lambda do |env|
      name = env["PATH_INFO"].delete("/")
      @log << "#{name} begins"
      event = Pelton::Operation.new
      Pelton.add_timer(0.001) { event.succeed } # its time has come when the page waits
      compute
      event.await
      compute
      @log << "#{name} ends"
      HELLO.call(env)
    end
  end

  def compute
    finish = now + 0.003
    nil while now < finish
  end

  # @return [Array<Peer>] which have all asked for a page
  def connected_before_the_loop_goes_on(count)
    thread = Thread.new { Array.new(count) { peer.say(format(REQUEST, "newer")) } }
    Thread.pass while thread.alive?
    thread.value
  end

  def test_a_page_is_finished_before_the_next_one_begins
    serving(two_parts) do
      peers = %w[a b c d].map { |name| peer.say(format(REQUEST, name)) }

      assert_equal ["hello"], peers.map { |one| one.response.body }.uniq
      assert_equal @log.each_slice(2).map { |line, _| line.sub("begins", "ends") }, @log.each_slice(2).map(&:last)
    end
  end

  def test_pipelined_requests_wait_for_what_has_begun
    serving(two_parts) do
      first = peer.say(format(REQUEST, "a") + format(REQUEST, "b"))
      second = peer.say(format(REQUEST, "c"))

      assert_equal %w[hello hello hello], [first.response, first.response, second.response].map(&:body)
      assert_equal @log.each_slice(2).map { |line, _| line.sub("begins", "ends") }, @log.each_slice(2).map(&:last)
    end
  end

  def test_requests_that_wait_for_others_to_go_on_are_counted_as_waiting
    counts = nil
    pages = two_parts
    app = lambda do |env|
      pages.call(env) until server.stats[:requests] == 3
      counts ||= server.stats.values_at(:running, :waiting)
      HELLO.call(env)
    end
    serving(app) do
      peers = %w[a b c].map { |name| peer.say(format(REQUEST, name)) }

      assert_equal ["hello"], peers.map { |one| one.response.body }.uniq
      assert_equal [1, 2], counts
      assert_equal [0, 0], server.stats.values_at(:running, :waiting)
    end
  end

  def test_a_probe_goes_before_requests_that_have_not_begun
    begun = []
    pages = two_parts
    app = lambda do |env|
      begun << env["PATH_INFO"]
      pages.call(env) until server.stats[:requests] == 4
      HELLO.call(env)
    end
    serving(app) do
      server._urgent_paths = ["/live"].freeze
      peers = %w[a b c live].map { |name| peer.say(format(REQUEST, name)) }

      assert_equal ["hello"], peers.map { |one| one.response.body }.uniq
      assert_equal %w[/a /live /b /c], begun
    end
  end

  # New connections stay in the backlog while requests wait to begin.
  def test_requests_of_many_new_connections_do_not_all_go_before_one_of_an_older_connection
    begun = []
    older = nil
    app = lambda do |env|
      older.say(format(REQUEST, "older")) if begun.size == 1
      begun << env["PATH_INFO"]
      HELLO.call(env)
    end
    serving(app) do
      older = peer.tap { |one| one.get("/before") }
      newer = connected_before_the_loop_goes_on(200)

      assert_equal "hello", older.response.body
      assert_includes 2..50, begun.index("/older")
      assert_equal ["hello"], newer.map { |one| one.response.body }.uniq
    end
  end

  def test_a_stream_holds_no_request_up
    over = false
    stream = Enumerator.new do |lines|
      until over
        lines << "x" * 1000
        sleep 0
      end
    end
    app = lambda do |env|
      (env["PATH_INFO"] == "/stream") ? [200, {}, stream] : HELLO.call(env).tap { over = true }
    end
    serving(app) do
      streaming = peer.say(format(REQUEST, "stream"))

      assert_equal "hello", peer.say(format(REQUEST, "a")).response.body
      assert_equal 200, streaming.response.status
    end
  end
end
