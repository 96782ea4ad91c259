# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/behind_nginx"

# The server behind nginx, as docs/guides/http_server.md sets it up.
class HTTPBehindNginxTest < PeltonTest
  include BehindNginx

  APP = lambda do |env|
    case env["PATH_INFO"]
    when "/socket" then Pelton::HTTP::WebSocket.accept(env) do |socket|
      socket.each { |message| socket.write("you said #{message}") }
    end
    when "/events" then Pelton::HTTP::EventStream.new { |stream| stream.emit("now") && sleep }.then do |events|
      [200, events.headers, events]
    end
    when "/upload" then [200, {}, [env["rack.input"].read.sum.to_s]]
    when "/slow" then sleep(0.01).then { [200, {}, ["slept"]] }
    else [200, {},
      [env.values_at("HTTP_HOST", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_CONNECTION").join(" ")]]
    end
  end

  def test_the_guides_configuration
    behind_nginx(BehindNginx.guide("http_server")[/^```nginx\n(.*?)^```/m, 1], APP) do |place|
      client = Pelton::HTTP::Client.new("http://#{place}/")
      upload = Random.new(3).bytes(3_000_000)

      assert_equal "#{place} 127.0.0.1 http ", client.get("/").body
      assert_equal upload.sum.to_s, client.post("/upload", body: upload).body
      assert_equal ["slept"], Array.new(100) { Pelton.spawn { client.get("/slow").body } }.map(&:await).uniq
      assert_equal "data: now\n\n", first_event(client)
      assert_equal "you said hello", said_by_websocket(place)
    end
  end

  private

  def first_event(client)
    received = +""
    client.get("/events", stream: true).each { |piece| break received if (received << piece).end_with?("\n\n") }
  end

  def said_by_websocket(place)
    socket = Pelton::HTTP::WebSocket.connect("ws://#{place}/socket", headers: {"origin" => "https://#{place}"})
    socket.write("hello")
    socket.receive
  ensure
    socket&.close
  end
end
