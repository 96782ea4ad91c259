# frozen_string_literal: true

require "test_helper"
require "json"
require "pelton/http"
require "pelton/http/websocket"
require "pelton/lab/web/cable_sockets"
require "pelton/lab/run"
require_relative "../support/wrong_answers"

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
          next if command["command"] == "unsubscribe"
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
          @members.first(number).each do |socket|
            socket.write(JSON.generate(identifier: JSON.generate(CHANNEL), message: text))
          end
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

  def test_broadcasts_reach_all
    serve do |url, broadcasts|
      sockets = Pelton::Lab::CableSockets.new(@run, url, 3, channel: CHANNEL, headers: {"Cookie" => "user=1"})
      done = sockets.saturate(2) { %w[hello goodbye].each { |text| broadcasts << [text, 3] } }

      assert_equal 6, done.requests
      assert_equal ["user=1"] * 3, @cookies
      assert_equal [nil] * 3, @early
      assert_kind_of Float, done.seconds
    ensure
      sockets&.close
    end
  end

  def test_the_time_of_a_delivery
    serve do |url, broadcasts|
      sockets = Pelton::Lab::CableSockets.new(@run, url, 3, channel: CHANNEL)
      late = 0
      done = sockets.pace(2, interval: 0.001) { broadcasts << [{at: Pelton::Clock.now - (late += 1000)}, 3] }

      assert_equal 6, done.requests
      assert_operator done.p50_ms, :>=, 1_000_000
      assert_operator done.p99_ms, :>=, 2_000_000
    ensure
      sockets&.close
    end
  end

  def test_further_subscriptions
    serve do |url, broadcasts|
      sockets = Pelton::Lab::CableSockets.new(@run, url, 2, channel: CHANNEL)
      done = sockets.subscribe_to(3) { |number| {channel: "Other", number: number} }

      assert_equal 6, done.requests
      assert_equal 8, @members.size
    ensure
      sockets&.close
    end
  end

  def test_a_broadcast_that_does_not_reach_all_is_wrong
    serve do |url, broadcasts|
      sockets = Pelton::Lab::CableSockets.new(@run, url, 3, channel: CHANNEL, timeout: 0.5)

      assert_wrong(/not all of 3 sockets have received the messages/) do
        sockets.saturate(1) { broadcasts << ["hello", 2] }
      end
      assert_wrong(/not all of 3 sockets/) do
        sockets.saturate(1) { 2.times { |number| broadcasts << [number.to_s, 3] } }
      end
    ensure
      sockets&.close
    end
  end

  def test_a_server_that_does_not_answer_is_an_error
    assert_raises(Pelton::ConnectionError) do
      Pelton::Lab::CableSockets.new(@run, "ws://127.0.0.1:1/", 3, channel: CHANNEL)
    end
  end
end
