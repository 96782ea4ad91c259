# frozen_string_literal: true

require_relative "../../support/http/peer"

# How response bodies share the loop (ext/pelton/ruby/http/connection/share.c): by bytes, and no part is produced before
# the last is nearly gone.
class HTTPShareTest < PeltonTest
  include HttpPeer

  MANY = 40
  PIECE = "x" * 16_384
  REQUEST = "GET /%s HTTP/1.1\r\nHost: h\r\n\r\n"

  # Serves streams of which nothing is read. Yields the far ends.
  def serving_pairs(count, app)
    Pelton.run(grace: 0) do
      pairs = Array.new(count) { UNIXSocket.pair }
      server = Pelton::HTTP::Server.new(app)
      pairs.each { |ours, _| server.serve(Pelton::Stream.for_fd(ours.tap { |io| io.autoclose = false }.fileno)) }
      yield pairs.map(&:last)
    ensure
      pairs.each { |_, theirs| theirs.close }
      sleep 0.001 until server.stats[:connections].zero?
    end
  end

  def body(piece = PIECE)
    Enumerator.new do |parts|
      loop do
        @produced += 1
        parts << piece
      end
    end
  end

  def test_no_part_is_produced_while_the_last_one_waits
    @produced = 0
    piece = "x" * 1_000_000
    serving_pairs(3, ->(_env) { [200, {}, body(piece)] }) do |clients|
      clients.each { |client| client.write(format(REQUEST, "")) }
      100.times { Pelton::Reactor.current.yield }

      assert_equal 3, @produced
    end
  end

  def test_a_request_does_not_wait_for_all_bodies
    @produced = 0
    before = nil
    app = lambda do |env|
      next [200, {}, body] unless env["PATH_INFO"] == "/ping"
      before = @produced
      HELLO.call(env)
    end
    serving_pairs(MANY + 1, app) do |clients|
      Pelton::Reactor.current.yield
      clients.each_with_index { |client, i| client.write(format(REQUEST, (i == MANY) ? "ping" : "")) }
      sleep 0.001 until before

      assert_operator before, :<, MANY
      sleep 0.001 until (at = @produced) && sleep(0.02) && at == @produced

      assert_operator @produced, :>, MANY * 2
    end
  end

  # First come, first served: while bodies wait, none is twice in a row.
  def test_bodies_take_turns
    order = []
    app = lambda do |env|
      [200, {}, Enumerator.new { |parts| 4.times { order << env["PATH_INFO"] && parts << "x" * 40_000 } }]
    end
    serving_pairs(MANY, app) do |clients|
      Pelton::Reactor.current.yield
      clients.each_with_index { |client, i| client.write(format(REQUEST, i)) }
      readers = clients.map { |client| Pelton.spawn { client.readpartial(100_000) until client.closed? } }
      sleep 0.001 until order.size == MANY * 4
      readers.each(&:cancel)
    end
    later = order.last(MANY * 2)

    assert_empty(later.each_cons(2).select { |one, other| one == other })
  end

  def test_bodies_that_are_given_up_leave_the_queue
    @produced = 0
    serving_pairs(MANY, ->(_env) { [200, {}, body] }) do |clients|
      clients.each { |client| client.write(format(REQUEST, "")) }
      3.times { Pelton::Reactor.current.yield }
      clients.each_slice(2) { |client, _| client.close }
      sleep 0.01
    end
  end

  # An event stream that says whether it was begun, and how often it was closed.
  class Events
    attr_reader :begun, :closed

    def each
      @begun = true
      yield "data: x\n\n"
    end

    def close = @closed = closed.to_i + 1
  end

  # The application closes its client's end, so that the connection is gone before the body's first turn comes.
  def test_a_body_whose_client_leaves_before_its_first_turn_does_not_begin
    @produced = 0
    events = Events.new
    leaving = nil
    app = lambda do |env|
      next [200, {}, body] unless env["PATH_INFO"] == "/events"
      leaving.close
      [200, {"content-type" => "text/event-stream"}, events]
    end
    serving_pairs(MANY + 1, app) do |clients|
      *reading, leaving = clients
      reading.each { |client| client.write(format(REQUEST, "")) }
      readers = reading.map { |client| Pelton.spawn { client.readpartial(100_000) until client.closed? } }
      sleep 0.001 until @produced > MANY
      leaving.write(format(REQUEST, "events"))
      sleep 0.001 until events.closed
      readers.each(&:cancel)
    end

    refute events.begun
    assert_equal 1, events.closed
  end
end
