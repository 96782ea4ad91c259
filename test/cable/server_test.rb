# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

class CableServerTest < PeltonTest
  include CableClient

  class ChatChannel < Pelton::Cable::Channel
    def subscribed = params[:room] ? stream_from("chat #{params[:room]}") : reject

    def speak(data) = broadcast("chat #{params[:room]}", {text: data["text"]})
  end

  class Connection < Pelton::Cable::Connection
    identified_by :user

    def connect
      sleep 0.001
      self.user = env["HTTP_X_USER"] or reject_unauthorized_connection
    end
  end

  def test_a_message_reaches_all_of_a_stream_and_nobody_else
    serving(channels: [ChatChannel]) do |url, cable|
      one, two, other = Array.new(3) { connect(url) }
      name = ChatChannel.name
      assert_equal %w[confirm_subscription] * 3,
        [one.subscribe(name, room: 1), two.subscribe(name, room: 1), other.subscribe(name, room: 2)]
      one.perform(name, "speak", {text: "ä"}, room: 1)
      expected = {"identifier" => one.identifier(name, room: 1), "message" => {"text" => "ä"}}

      assert_equal expected, one.receive
      assert_equal expected, two.receive
      cable.broadcast("chat 2", [1])
      assert_equal [1], other.receive["message"]
      assert_equal({connections: 3, subscriptions: 3, streams: 2, sent: 3, accepted: 3, restored: 0, unauthorized: 0,
        commands: 4, refused: 0, rejected: 0, errors: 0, slow: 0, gaps: 0}, cable.stats)
    end
  end

  def test_the_protocol_is_agreed_on_and_other_requests_are_refused
    serving do |url,|
      assert_equal "actioncable-v1-json",
        connect(url, protocols: %w[actioncable-v1-json actioncable-unsupported]).socket.protocol
      assert_equal 426, Pelton::HTTP.get(url.sub("ws", "http")).status
      assert_raises(Pelton::HTTP::WebSocket::HandshakeError) do
        connect(url, headers: {"origin" => "http://evil.example"})
      end
    end
  end

  def test_who_may_not_connect_is_told_not_to_come_back
    serving(connection: Connection) do |url, cable|
      client = Client.new(url)
      assert_equal({"type" => "disconnect", "reason" => "unauthorized", "reconnect" => false}, client.receive)
      assert_nil client.receive
      connect(url, headers: {"x-user" => "ann"})

      assert_equal [1, 1], cable.stats.values_at(:connections, :unauthorized)
    end
  end

  def test_connections_are_ended_by_who_they_are
    serving(connection: Connection) do |url, cable|
      ann, bob = %w[ann bob].map { |user| connect(url, headers: {"x-user" => user}) }
      cable.disconnect(user: "ann")
      assert_equal({"type" => "disconnect", "reason" => "remote", "reconnect" => true}, ann.receive)
      assert_nil ann.receive
      eventually { cable.stats[:connections] == 1 }
      cable.disconnect(reconnect: false)
      assert_equal false, bob.receive["reconnect"]
    end
  end

  def test_so_many_connect_at_once
    running = most = 0
    connection = Class.new(Pelton::Cable::Connection) do
      define_method(:connect) do
        most = [most, running += 1].max
        sleep 0.002
        running -= 1
      end
    end
    serving(connection: connection, connecting: 3) do |url,|
      Array.new(20) { Pelton.spawn { connect(url) } }.each(&:await)
    end

    assert_equal 3, most
  end

  def test_heartbeats
    serving(heartbeat: 0.03) do |url,|
      client = connect(url)
      pings = Array.new(12) { JSON.parse(client.socket.receive(timeout: 10)) }

      assert_equal ["ping"], pings.map { |ping| ping["type"] }.uniq
      assert_kind_of Integer, pings.last["message"]
    end
  end

  def test_a_client_that_reads_nothing_is_closed
    serving(channels: [ChatChannel], output: 100_000) do |url, cable|
      silent, client = connect(url), connect(url)
      [silent, client].each { |one| one.subscribe(ChatChannel.name, room: 1) }
      stream = silent.socket.instance_variable_get(:@stream)
      stream.pause
      500.times do
        cable.broadcast("chat 1", Random.bytes(50_000).unpack1("H*"))
        client.receive
        break if cable.stats[:slow] > 0
      end

      assert_equal 1, cable.stats[:slow]
      assert_equal 1, cable.streams.size
    end
  end

  def test_channels_by_name
    cable = Pelton::Cable::Server.new
    assert_same ChatChannel, cable.channel_class("CableServerTest::ChatChannel")
    ["Object", "CableServerTest", "NoSuchChannel", "chatChannel", "Kernel.exit;Channel", nil, 1, ["ChatChannel"],
      "Pelton::Cable::Channel"].each do |name|
      assert_raises(Pelton::Cable::Refused, name.inspect) { cable.channel_class(name) }
    end
    assert_raises(Pelton::Cable::Refused) do
      Pelton::Cable::Server.new(channels: []).channel_class("CableServerTest::ChatChannel")
    end
    assert_raises(ArgumentError) { Pelton::Cable::Server.new(limit: 1) }
  end

  def test_it_counts_for_prometheus
    serving do |url,|
      before = Pelton::Metrics.stats["cable_accepted"]
      connect(url)

      assert_equal before + 1, Pelton::Metrics.stats["cable_accepted"]
    end
  end
end
