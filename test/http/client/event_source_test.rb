# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http/scripts"
require "pelton/http"

# Server-sent events of servers that answer, close and come back.
class ClientEventSourceTest < PeltonTest
  include HTTPScripts

  def stream(*events, status: "200 OK", type: "text/event-stream; charset=utf-8")
    "HTTP/1.1 #{status}\r\nContent-Type: #{type}\r\nConnection: close\r\n\r\n#{events.join}"
  end

  def client(server) = Pelton::HTTP::Client.new(server.url)

  def test_a_responses_events
    server = script { |_, socket| socket.write(stream("data: one\n\n", "data: two\n\n")) && :close }
    events = Pelton.run { client(server).post("/", json: {}, stream: true).each_event.map(&:data) }

    assert_equal %w[one two], events
  end

  def test_a_response_that_is_no_stream_of_events
    ["text/html", "text/event-streams"].each do |type|
      server = script { |_, socket| socket.write(stream("x", type: type)) && :close }
      error = assert_raises(Pelton::ProtocolError) do
        Pelton.run { client(server).get("/", stream: true).each_event {} }
      end

      assert_match(/the response is no stream of events: 200 OK, #{type}/, error.message)
    end
  end

  # Within a chunk, as a proxy that restarts.
  def test_a_stream_that_breaks_off
    answers = ["HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" \
      "retry: 1\nid: 1\ndata: one\n\ndata: ha",
      "HTTP/1.1 204 No Content\r\n\r\n"]
    server = script { |_, socket| socket.write(answers.shift) && :close }
    events = []
    Pelton.run { client(server).each_event("/") { |event| events << event.data } }

    assert_equal %w[one], events
    assert_equal [nil, "1"], server.seen.map { |request| request.headers["last-event-id"] }
  end

  # The server sends one event on each connection, and then says that there is no more.
  def test_a_client_comes_back_with_the_last_id
    answers = [stream("retry: 1\nid: 7\ndata: one\n\n"), stream(status: "503 Busy"), stream("data: two\n\n"),
      "HTTP/1.1 204 No Content\r\n\r\n"]
    server = script { |_, socket| socket.write(answers.shift) && :close }
    events = []
    Pelton.run { client(server).each_event("/") { |event| events << event.to_a } }

    assert_equal [["message", "one", "7"], ["message", "two", "7"]], events
    seen = server.seen.map(&:headers)
    assert_equal [nil, "7", "7", "7"], seen.map { |headers| headers["last-event-id"] }
    assert_equal ["text/event-stream"], seen.map { |headers| headers["accept"] }.uniq
  end

  # Without a least, a server could have its clients come back at once, again and again; without a most, for ever away.
  def test_a_server_may_ask_for_a_while_within_bounds
    {"0" => 0.08..0.12, "500" => 0.4..0.6, "9" * 400 => 2880..4320}.each do |milliseconds, range|
      answers = [stream("retry: #{milliseconds}\n\n"), "HTTP/1.1 204 No Content\r\n\r\n"]
      server = script { |_, socket| socket.write(answers.shift) && :close }
      slept = []
      source = Pelton::HTTP::EventSource.new(client(server), "/", last_event_id: nil, max_event: 1_000, headers: {})
      source.define_singleton_method(:sleep) { |seconds| slept << seconds }
      Pelton.run { source.each {} }

      assert_equal 1, slept.size
      assert_includes range, slept.first, milliseconds
    end
  end

  def test_a_client_begins_where_another_was
    server = script { "HTTP/1.1 204 No Content\r\n\r\n" }
    Pelton.run { client(server).each_event("/", last_event_id: "5") {} }

    assert_equal "5", server.seen.first.headers["last-event-id"]
  end

  def test_a_client_does_not_come_back_to_another_status
    server = script { |_, socket| socket.write(stream(status: "404 Not Found")) && :close }

    assert_raises(Pelton::ProtocolError) { Pelton.run { client(server).each_event("/") {} } }
    assert_equal 1, server.connections
  end

  def test_a_block_may_break
    server = script { |_, socket| socket.write(stream("data: one\n\n", "data: two\n\n")) && :close }
    first = Pelton.run { client(server).each_event("/") { |event| break event.data } }

    assert_equal "one", first
  end
end
