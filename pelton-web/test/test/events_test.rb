# frozen_string_literal: true

require "test_helper"
require "pelton/web/test"

class WebTestEventsTest < PeltonTest
  include Pelton::Web::Test

  QUEUES = [] # of those who listen
  LEFT = []

  APP = Class.new(Pelton::Web::Application) do
    settings.environment = "test"
    routes do
      get("/live") do
        queue = Thread::Queue.new
        event_stream do |events|
          QUEUES << queue
          events.comment("hello")
          events.emit(params[:greeting], event: "greeting", id: "1") if params[:greeting]
          while (text = queue.pop)
            events.emit(text)
          end
        ensure
          LEFT << QUEUES.delete(queue)
        end
      end
      post("/messages") do
        QUEUES.each { |queue| queue << params.string(:text) }
        head 204
      end
      get("/fail") { event_stream { |events| events.emit("one") && raise(KeyError, "lost") } }
      get("/end") { event_stream { |events| 2.times { |number| events.emit("#{number}\nx") } } }
      get("/private") { redirect_to "/sign_in" }
      get("/raw") do
        answer(->(out) {
          out.write(": x\r\rdata:a\rdata\r\r\nevent: e\r\ndata: d\r\n\r\n") &&
                  out.write("event: b\ndata: c") && out.write("\n\nid: 7\n\n") && out.close
        }, type: "text/event-stream")
      end
    end
  end

  def app = APP

  def setup
    super
    [QUEUES, LEFT].each(&:clear)
  end

  def test_events_come_while_other_requests_are_sent
    value = get_events("/live", greeting: "hi") do |events|
      assert_equal 1, QUEUES.size
      assert_equal ["greeting", "hi", "1"], events.next.to_a
      post "/messages", text: "one\ntwo"

      assert_equal ["message", "one\ntwo", nil], events.next.to_a
      :value
    end

    assert_equal :value, value, "the client has left"
    assert_equal 1, LEFT.size, "the client has left"
    assert_equal [], QUEUES, "the client has left"
  end

  def test_two_listeners_in_a_reactor
    in_reactor do
      get_events("/live") do |one|
        get_events("/live") do |other|
          post "/messages", text: "x"

          assert_equal %w[x x], [one, other].map { |events| events.next.data }
        end
      end
    end
  end

  def test_a_stream_that_ends
    get_events("/end") do |events|
      assert_equal "0\nx", events.next.data
      assert_equal "1\nx", events.next.data
      assert_nil events.next
      assert_nil events.next
    end
  end

  def test_every_form_of_an_event
    get_events("/raw") do |events|
      assert_equal ["message", "a\n", nil], events.next.to_a
      assert_equal ["e", "d", nil], events.next.to_a
      assert_equal ["b", "c", nil], events.next.to_a
      assert_nil events.next
    end
  end

  def test_errors_are_the_test_s
    get_events("/fail") do |events|
      assert_equal "one", events.next.data
      2.times { assert_equal "lost", assert_raises(KeyError) { events.next }.message }
    end
    assert_match(/answered 302, and not with an event stream/,
      assert_raises(Pelton::Error) { get_events("/private") { flunk } }.message)
    assert_match(/no event came within 0.01 s/,
      assert_raises(Pelton::TimeoutError) { get_events("/live") { |events| events.next(timeout: 0.01) } }.message)
    assert_raises(Minitest::Assertion) { get_events("/live") { flunk } }
    assert_equal 2, LEFT.size
  end
end
