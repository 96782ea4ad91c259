# frozen_string_literal: true

require "pelton/web"
require "pelton/http/websocket"
require_relative "../support/controllers"

class WebControllerStreamingTest < PeltonTest
  include WebControllers

  Message = Struct.new(:id, :content_stream)
  MESSAGE = Message.new(7, Pelton::ResumableStream.new("7", Pelton::ResumableStream::Memory.new))

  def app
    Class.new(Pelton::Web::Application) do
      routes do
        get("/stream") do
          stream(type: "text/csv", status: 201) { |out| 3.times { |number| (out << "#{number}\n") && sleep(0.001) } }
        end
        get("/events") { event_stream { |events| 2.times { |number| events.emit(number) } } }
        get("/deferred") do
          defer_response(200, {"Content-Type" => "text/plain"}) do |response|
            if Pelton.running?
              Pelton.add_timer(0.01) { response.send_data("later").succeed }
            else
              response.send_data("now").succeed
            end
          end
        end
        get("/broken") do
          defer_response(200) { |response| response.send_data("begun") && Pelton.add_timer(0.01) { response.fail } }
        end
        get("/text") { follow_stream(MESSAGE, :content) { |event| "<i>#{event.type}</i>" } }
        get("/events_of_a_text") { follow_stream(MESSAGE, :content, turbo: false) }
        get("/socket") { websocket { |socket| socket.each { |message| socket.write("#{params[:name]}: #{message}") } } }
      end
    end
  end

  def test_under_pelton
    with_server(Rack::Lint.new(app)) do |url|
      one = Pelton::HTTP.get("#{url}/stream")

      assert_equal 201, one.status
      assert_equal "text/csv", one["content-type"]
      assert_equal "0\n1\n2\n", one.body
      events = Pelton::HTTP.get("#{url}/events")

      assert_equal "text/event-stream", events["content-type"]
      assert_equal "no-cache", events["cache-control"]
      assert_equal "data: 0\n\ndata: 1\n\n", events.body
    end
  end

  def test_deferred
    with_server(app) do |url|
      one = Pelton::HTTP.get("#{url}/deferred")

      assert_equal "text/plain", one["content-type"]
      assert_equal "later", one.body
      assert_raises(Pelton::ConnectionError) { Pelton::HTTP.get("#{url}/broken").body }
    end
  end

  def test_a_text_that_is_written_while_it_is_followed
    stream = MESSAGE.content_stream
    with_server(app) do |url|
      events = +""
      stream.write do |out|
        out << "Hel"
        reader = Pelton.spawn { Pelton::HTTP.get("#{url}/text", stream: true).each { |piece| events << piece } }
        eventually { events.include?("Hel") }
        reader.cancel
        out << "lo"
      end
      last = events.scan(/^id: (.*)$/).last.first

      assert_equal "1:3", last
      assert_match(/data: .*action="append".*<template>lo<.*data: <i>finished<.i>.*action="remove"/m,
        Pelton::HTTP.get("#{url}/text", headers: {"last-event-id" => last}).body)
      assert_equal "id: 1:5\ndata: lo\n\nevent: finished\nid: 1:5\ndata: \n\n",
        Pelton::HTTP.get("#{url}/events_of_a_text?after=1:3").body
    end
  end

  def test_websocket
    with_server(app) do |url|
      socket = Pelton::HTTP::WebSocket.connect("#{url.sub("http", "ws")}/socket?name=Ann")
      socket.write("hi")

      assert_equal "Ann: hi", socket.receive(timeout: 5)
      assert_equal 1, Pelton::Web::Stream.stats[:open]
      socket.close
      eventually { Pelton::Web::Stream.stats[:open].zero? }
      assert_equal 400, Pelton::HTTP.get("#{url}/socket").status.clamp(400, 426) && 400
    end
  end

  def test_elsewhere_it_blocks
    assert_equal ["0\n1\n2\n", "data: 0\n\ndata: 1\n\n", "now"],
      %w[/stream /events /deferred].map { |path| request(app, "GET", path).body }
  end

  def test_head_runs_nothing
    one = request(app, "HEAD", "/stream")
    assert_equal 201, one.status
    assert_equal "", one.body
  end
end
