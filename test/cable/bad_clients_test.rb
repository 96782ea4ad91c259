# frozen_string_literal: true

require "test_helper"
require "socket"
require "support/fault_proxy"
require "support/cable_client"
require "support/captured_log"
require "support/websocket_peer"

# Clients that ask for too much, read too little, or are not there any more. Commands that are malformed are in
# session_test.rb.
class CableBadClientsTest < PeltonTest
  include CapturedLog
  include CableClient

  class EchoChannel < Pelton::Cable::Channel
    def echo(data) = transmit(data["n"])
  end

  class NewsChannel < Pelton::Cable::Channel
    def subscribed = params[:closed] ? reject : stream_from("news")
  end

  class GateChannel < Pelton::Cable::Channel
    class << self
      attr_accessor :gate, :calls
    end

    def pass(data)
      self.class.gate.await
      self.class.calls << data["n"]
    end
  end

  class TokenConnection < Pelton::Cable::Connection
    VALID = {} # standard:disable Style/MutableConstant
    identified_by :user

    def connect = self.user = VALID[cookies["token"]] || reject_unauthorized_connection
  end

  def test_ten_thousand_subscriptions
    serving do |url, cable|
      client = connect(url)
      writing = Pelton.spawn do
        10_000.times do |number|
          client.send(command: "subscribe", identifier: client.identifier(EchoChannel.name, n: number))
        end
      end
      answers = []
      answers << client.receive["type"] until answers.last == "disconnect"

      assert_equal({"confirm_subscription" => 1000, "reject_subscription" => 100, "disconnect" => 1}, answers.tally)
      assert_nil client.receive
      assert_equal 1008, client.socket.close_code
      assert_equal 100, cable.stats[:refused]
      assert_raises(Pelton::ClosedError) { writing.await }
      eventually { cable.stats[:connections] == 0 }
      assert_match(/1000 subscriptions are the most/, log)
    end
  end

  # While an action waits, the others stay in the sockets' buffers.
  def test_a_flood_of_performs
    GateChannel.gate = Pelton::Operation.new
    GateChannel.calls = []
    serving do |url, cable|
      flooding, other = raw(url, GateChannel.name), connect(url)
      other.subscribe(EchoChannel.name)
      sent = 0
      flood = Thread.new do
        500.times do |number|
          write(flooding, command: "message", identifier: JSON.generate({channel: GateChannel.name}),
            data: JSON.generate({action: "pass", n: number, padding: "x" * 60_000}))
          sent = number + 1
        end
      end
      before = -1
      until before == sent && sent.positive?
        before = sent
        20.times do
          other.perform(EchoChannel.name, "echo", {n: 1})
          assert_equal 1, other.receive["message"]
        end
      end

      assert_operator sent, :<, 500
      assert_predicate flood, :alive?
      GateChannel.gate.succeed
      eventually { GateChannel.calls.size == 500 }
      assert_equal (0...500).to_a, GateChannel.calls
      assert_equal 2, cable.stats[:connections]
    ensure
      flood&.kill
      flooding&.close
    end
  end

  def test_a_client_that_reads_byte_by_byte
    serving(output: 100_000) do |url, cable|
      slow = raw(url, NewsChannel.name)
      quick = connect(url)
      quick.subscribe(NewsChannel.name)
      eventually { cable.stats[:subscriptions] == 2 }
      message = Random.bytes(20_000).unpack1("H*")
      sent = 0
      until cable.stats[:slow] == 1 || sent == 2000
        cable.broadcast("news", message)
        sent += 1
        assert_equal message, quick.receive["message"]
        slow.read_nonblock(1)
      end

      assert_operator sent, :<, 2000
      assert_equal 1, cable.stats[:slow]
      assert_match(/closes a client that reads too slowly: \d{6} bytes wait for it/, log)
      cable.broadcast("news", "on")
      assert_equal "on", quick.receive["message"]
    ensure
      slow&.close
    end
  end

  # The client's machine has lost its network, and says nothing.
  def test_half_open_connections
    serving(heartbeat: 0.01) do |url, cable|
      FaultProxy.start(URI(url).port) do |proxy|
        gone = connect("ws://127.0.0.1:#{proxy.port}/")
        gone.subscribe(NewsChannel.name)
        there = connect(url)
        there.subscribe(NewsChannel.name)
        proxy.stall!
        eventually { cable.stats[:connections] == 1 }
        cable.broadcast("news", "on")

        assert_equal "on", there.receive["message"]
        assert_equal [1, 1], cable.stats.values_at(:subscriptions, :streams)
      end
    end
  end

  # Unless the connection asks again.
  def test_a_right_that_has_ended_before_a_subscription
    answers = [->(_) { false }, ->(connection) { connection.reject_unauthorized_connection }]
    answers.each do |answer|
      asking = Class.new(TokenConnection) do
        define_method(:authorized?) { TokenConnection::VALID.any? || answer.call(self) }
      end
      TokenConnection::VALID["t"] = "ann"
      serving(connection: asking) do |url, cable|
        client = connect(url, headers: {"cookie" => "token=t"})
        assert_equal "confirm_subscription", client.subscribe(EchoChannel.name)
        TokenConnection::VALID.clear
        client.send(command: "subscribe", identifier: client.identifier(EchoChannel.name, n: 2))
        assert_equal({"type" => "disconnect", "reason" => "unauthorized", "reconnect" => false}, client.receive)
        assert_nil client.receive
        assert_equal 1, cable.stats[:unauthorized]
      end
    end
  end

  # Who was let in stays, until the application ends the connection.
  def test_a_cookie_that_expires_while_connected
    TokenConnection::VALID["t"] = "ann"
    serving(connection: TokenConnection) do |url, cable|
      cookie = {headers: {"cookie" => "token=t"}}
      client = connect(url, **cookie)
      TokenConnection::VALID.clear
      client.subscribe(EchoChannel.name)
      client.perform(EchoChannel.name, "echo", {n: 1})
      assert_equal 1, client.receive["message"]
      cable.disconnect(user: "ann")
      assert_equal ["remote", true], client.receive.values_at("reason", "reconnect")

      again = Client.new(url, **cookie)
      assert_equal({"type" => "disconnect", "reason" => "unauthorized", "reconnect" => false}, again.receive)
      assert_nil again.receive
    end
  end

  def test_each_refusal_has_a_line_and_a_counter
    serving(connection: TokenConnection, pubsub: Pelton::PubSub.new) do |url, cable|
      assert_raises(Pelton::HTTP::WebSocket::HandshakeError) do
        Client.new(url, headers: {"origin" => "http://evil.example"})
      end
      Client.new(url).receive
      assert_equal 2, cable.stats[:unauthorized]
    end
    serving do |url, cable|
      Client.new(url).receive
      client = connect(url)
      client.subscribe(NewsChannel.name, closed: true)
      client.socket.write("nonsense")
      client.subscribe(EchoChannel.name)
      assert_equal [1, 1], cable.stats.values_at(:rejected, :refused)
    end

    [/pages of "http:..evil.example" may not connect/, /NewsChannel rejects a subscription/,
      /refuses a command: the command is no JSON/].each { |line| assert_match line, log }
  end

  private

  # A client with a small buffer, that reads by itself.
  def raw(url, channel)
    socket = Socket.new(:INET, :STREAM)
    socket.setsockopt(:SOCKET, :RCVBUF, 4096)
    socket.connect(Addrinfo.tcp("127.0.0.1", URI(url).port))
    socket.write(WebSocketPeer.handshake("Sec-WebSocket-Protocol: actioncable-v1-json\r\n"))
    write(socket, command: "subscribe", identifier: JSON.generate({channel: channel}))
    socket
  end

  def write(socket, **command)
    text = JSON.generate(command)
    socket.write(WebSocketPeer.encode(0x81, text.bytesize, text, mask: true))
  end
end
