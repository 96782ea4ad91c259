# frozen_string_literal: true

require "test_helper"
require "json"
require "pelton/http"
require "pelton/http/websocket"
require "pelton/lab/web/cable_sockets"
require "pelton/lab/run"
require_relative "../wrong_answers"

class LabCableSocketsTest < PeltonTest
  include WrongAnswers

  CHANNEL = {channel: "RoomChannel", room: 2}.freeze

  def setup
    @run = Pelton::Lab::Run.new(size: 1)
    @members = []
    @cookies = []
    @early = []
  end

  # Speaks Action Cable's protocol, in a thread with a reactor of its own.
  def serve
    ports, broadcasts = Thread::Queue.new, Thread::Queue.new
    application = lambda do |env|
      @cookies << env["HTTP_COOKIE"]
      Pelton::HTTP::WebSocket.accept(env, protocols: ["actioncable-v1-json"]) do |socket|
        @early << earliest(socket)
        socket.write('{"type":"welcome"}')
        socket.each do |text|
          command = JSON.parse(text)
          socket.write('{"type":"ping","message":1}')
          socket.write(JSON.generate(identifier: command["identifier"], type: "confirm_subscription"))
          @members << socket
        end
      end
    end
    thread = Thread.new do
      Pelton.run do
        server = Pelton::HTTP::Server.new(application).listen("tcp://127.0.0.1:0")
        ports << server.port
        while (text, number = broadcasts.pop)
          @members.first(number).each { |socket| socket.write(JSON.generate(identifier: JSON.generate(CHANNEL), message: text)) }
        end
        Pelton.stop
      end
    end
    yield "ws://127.0.0.1:#{ports.pop}/cable", broadcasts
  ensure
    broadcasts << nil
    thread.join
  end

  # What a client sends before it is welcomed.
  def earliest(socket)
    socket.receive(timeout: 0.05)
  rescue Pelton::TimeoutError
    nil
  end

  def test_a_broadcast_reaches_all
    serve do |url, broadcasts|
      sockets = Pelton::Lab::CableSockets.new(@run, url, 3, channel: CHANNEL, headers: {"Cookie" => "user=1"})
      done = sockets.deliver(2) { broadcasts << ["hello", 3] }

      assert_equal [6, ["user=1"] * 3, [nil] * 3], [done.requests, @cookies, @early]
      assert_kind_of Float, done.seconds
    ensure
      sockets&.close
    end
  end

  def test_a_broadcast_that_does_not_reach_all_is_wrong
    serve do |url, broadcasts|
      sockets = Pelton::Lab::CableSockets.new(@run, url, 3, channel: CHANNEL, timeout: 0.5)

      assert_wrong(/not all of 3 sockets have received the message/) { sockets.deliver(1) { broadcasts << ["hello", 2] } }
    ensure
      sockets&.close
    end
  end

  def test_a_server_that_does_not_answer_is_an_error
    assert_raises(Pelton::ConnectionError) { Pelton::Lab::CableSockets.new(@run, "ws://127.0.0.1:1/", 3, channel: CHANNEL) }
  end
end
