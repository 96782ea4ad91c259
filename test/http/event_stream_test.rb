# frozen_string_literal: true

require "stringio"
require_relative "../test_helper"
require_relative "../support/http/servers"
require "pelton/http"
require "pelton/pubsub"

class EventStreamTest < PeltonTest
  include HttpServers

  def test_the_format
    assert_equal "data: a\n\n", sent { |events| events.emit("a") }
    assert_equal "data: a\ndata: b\ndata: \ndata: c\n\n", sent { |events| events.emit("a\nb\r\n\rc") }
    assert_equal "event: x\nid: 7\nretry: 1500\ndata: y\n\n",
      sent { |events| events.emit("y", event: "x", id: 7, retry_after: 1.5) }
    assert_equal "data: \n\n", sent { |events| events.emit("") }
    assert_equal "id: 1\n\n", sent { |events| events.emit(id: 1) }
    assert_equal ": are  you there\n\n", sent { |events| events.comment("are\r\nyou there") }
  end

  # A line end in a name would begin an event of somebody else's making.
  def test_names_and_ids_have_no_line_ends
    assert_raises(ArgumentError) { sent { |events| events.emit("x", event: "a\ndata: b") } }
    assert_raises(ArgumentError) { sent { |events| events.emit("x", id: "1\r2") } }
    assert_raises(ArgumentError) { sent { |events| events.emit("x", id: "1\0") } }
  end

  def test_it_is_a_body_of_pelton_s_server
    app = lambda do |_env|
      events = Pelton::HTTP::EventStream.new { |stream| 3.times { |number| stream.emit(number) && sleep(0.001) } }
      [200, events.headers, events]
    end
    serving_here(app) do |port|
      response = Pelton::HTTP.get("http://127.0.0.1:#{port}/", stream: true)

      assert_equal "text/event-stream", response["content-type"]
      assert_equal "data: 0\n\ndata: 1\n\ndata: 2\n\n", response.body
    end
  end

  def test_a_client_that_goes_ends_it
    ended = false
    app = lambda do |_env|
      events = Pelton::HTTP::EventStream.new do |stream|
        loop { stream.comment && sleep(0.001) }
      ensure
        ended = true
      end
      [200, events.headers, events]
    end
    serving_here(app) do |port|
      Pelton::HTTP.get("http://127.0.0.1:#{port}/", stream: true).each { break }
      eventually { ended }
    end
  end

  # As EventSource does: it comes back with the last id.
  def test_it_follows_a_topic
    pubsub = Pelton::PubSub.new.keep("t", messages: 3)
    following(pubsub) do |url|
      first = read(url, 2) { %w[a b].each { |text| pubsub.publish("t", text) } }
      assert_equal %w[a b], first.map { |event| event["data"] }
      pubsub.publish("t", "c")
      second = read(url, 3, after: first.last["id"]) { pubsub.publish("t", "d") }
      assert_equal [first.last["id"], nil, "c", "d"], [second.first["id"], *second.map { |event| event["data"] }]

      # A client that leaves before the first message may come back with it
      assert_equal [second.last.slice("id")], read(url, 1)
      assert_equal [{"event" => "gap", "data" => ""}], read(url, 1, after: "unknown:1")
      eventually { pubsub.stats[:subscriptions] == 0 }
    end
  end

  def test_it_tells_of_a_later_gap_once
    pubsub = Pelton::PubSub.new
    following(pubsub) do |url|
      events = read(url, 3) do
        pubsub._lost
        eventually { pubsub.stats[:subscriptions] == 1 }
        %w[a b].each { |text| pubsub.publish("t", text) }
      end

      assert_equal [{"event" => "gap", "data" => ""}, {"data" => "a"}, {"data" => "b"}], events
    end
  end

  def test_it_sends_comments_while_nothing_is_published
    following(Pelton::PubSub.new) { |url| assert_equal 3, read(url, 3, comments: true).size }
  end

  def test_it_sends_inside_its_block_alone
    assert_raises(Pelton::Error) { Pelton::HTTP::EventStream.new {}.emit("x") }
    assert_raises(ArgumentError) { Pelton::HTTP::EventStream.new }
  end

  private

  def following(pubsub, **options)
    app = lambda do |env|
      events = Pelton::HTTP::EventStream.new do |stream|
        stream.follow("t", after: env["HTTP_LAST_EVENT_ID"], pubsub: pubsub, every: 0.02, **options)
      end
      [200, events.headers, events]
    end
    serving_here(app) { |port| yield "http://127.0.0.1:#{port}/" }
  end

  # The first events, or comments. The block is called when the client is connected.
  def read(url, count, after: nil, comments: false)
    response = Pelton::HTTP.get(url, stream: true, headers: after ? {"last-event-id" => after} : {})
    text, events = +"", []
    response.each do |piece|
      yield if block_given? && text.empty?
      text << piece
      events = text.scan(/(.*?)\n\n/m).flatten.select { |event| event.start_with?(":") == comments }
      break if events.size >= count
    end
    events.first(count).map { |event| event.lines(chomp: true).to_h { |line| line.split(": ", 2) } }
  end

  # As the server's streams: close may be told an error.
  class Output < StringIO
    def close(_error = nil) = super()
  end

  def sent(&block)
    output = Output.new
    Pelton::HTTP::EventStream.new(&block).call(output)
    output.string
  end
end
