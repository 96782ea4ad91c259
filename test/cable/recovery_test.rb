# frozen_string_literal: true

require "test_helper"
require "pelton/pubsub/hub"
require "support/fault_proxy"
require "support/cable_client"
require "support/captured_log"

# Clients of the extended protocol that come back to their subscriptions.
class CableRecoveryTest < PeltonTest
  include CapturedLog
  include CableClient

  LOG = [] # standard:disable Style/MutableConstant

  class NewsChannel < Pelton::Cable::Channel
    def subscribed
      LOG << "in #{connection.user}"
      LOG.include?("closed") ? reject : stream_from("news")
    end

    def unsubscribed = LOG << "out #{connection.user}"

    def echo(data) = transmit(data["n"])
  end

  class Connection < Pelton::Cable::Connection
    identified_by :user

    def connect
      self.user = env["HTTP_X_USER"] || "ann"
      reject_unauthorized_connection if LOG.include?("nobody")
    end
  end

  NAME = NewsChannel.name

  def setup
    super
    LOG.clear
  end

  def test_who_comes_back_has_its_subscriptions_and_what_it_missed
    recovering do |url, cable|
      client = extended(url)
      id = client.identifier(NAME)
      client.subscribe(NAME)
      cable.broadcast("news", 1)
      seen = client.receive.slice("epoch", "offset")
      client.socket.abort
      eventually { LOG == ["in ann", "out ann"] }
      cable.broadcast("news", 2)

      back = extended("#{url}?sid=#{client.welcome["sid"]}")
      assert_equal [true, [id]], back.welcome.values_at("restored", "restored_ids")
      refute_equal client.welcome["sid"], back.welcome["sid"]
      back.send(command: "history", identifier: id, history: {streams: {news: seen}})
      assert_equal [2, "confirm_history"],
        Array.new(2) { back.receive }.map { |message| message["message"] || message["type"] }
      back.perform(NAME, "echo", {n: 3})
      assert_equal 3, back.receive["message"]
      cable.broadcast("news", 4)
      assert_equal 4, back.receive["message"]
      back.send(command: "history", identifier: id) # as of a client that has no position, and wants nothing from before
      assert_equal "confirm_history", back.receive["type"]
      assert_equal [2, 1, 0], cable.stats.values_at(:accepted, :restored, :refused)
    end
  end

  # In the round trip before it asks for what it has missed.
  def test_live_messages_wait_for_the_history
    recovering do |url, cable|
      client, id, seen = one_that_has_seen(url, cable, 1)
      2.upto(3) { |number| cable.broadcast("news", number) }
      back = extended("#{url}?sid=#{client.welcome["sid"]}")
      cable.broadcast("news", 4)
      back.send(command: "history", identifier: id, history: {streams: {news: seen}})
      assert_equal [2, 3, 4, "confirm_history"],
        Array.new(4) { back.receive.then { |message| message["message"] || message["type"] } }
      Thread.new { cable.broadcast("news", 5) }.join
      assert_equal [5, 5], back.receive.values_at("message", "offset")
    end
  end

  # It has a position beyond what it has missed, if it were sent a live message.
  def test_one_that_does_not_ask_in_time
    recovering do |url, cable|
      clients = Array.new(2) { one_that_has_seen(url, cable, 1) }
      busy, quiet = clients.map { |client, *| extended("#{url}?sid=#{client.welcome["sid"]}") }
      quiet.send(command: "unsubscribe", identifier: clients.last[1])
      cable.broadcast("news", 2)
      assert_equal({"type" => "disconnect", "reason" => "restore_failed", "reconnect" => true}, busy.receive)
      assert_nil busy.receive
    end
  end

  def test_one_that_asks_late
    recovering do |url, cable|
      client, id, seen = one_that_has_seen(url, cable, 1)
      cable.broadcast("news", 2)
      back = extended("#{url}?sid=#{client.welcome["sid"]}")
      eventually { cable.pubsub.stats[:subscriptions] == 3 && cable.sessions.none? { |session| session.holding?(id) } }
      cable.broadcast("news", 3)
      assert_equal 3, back.receive["message"]
      2.times { back.send(command: "history", identifier: id, history: {streams: {news: seen}}) }
      assert_equal "reject_history", back.receive["type"], "only the first time"
      assert_equal 2, back.receive["message"], "only the first time"
    end
  end

  # It is the client that notices first, so its old connection ends before the new one begins.
  def test_before_the_server_has_noticed
    recovering do |url, cable|
      FaultProxy.start(URI(url).port) do |proxy|
        client = extended("ws://127.0.0.1:#{proxy.port}/")
        client.subscribe(NAME)
        proxy.stall!
        back = extended(url, headers: {"x-anycable-restore-sid" => client.welcome["sid"]})

        assert_equal [client.identifier(NAME)], back.welcome["restored_ids"]
        cable.broadcast("news", 1)
        back.send(command: "history", identifier: client.identifier(NAME))
        assert_equal ["confirm_history", 1],
          Array.new(2) { back.receive.then { |message| message["type"] || message["message"] } }
        assert_equal ["in ann", "out ann", "in ann"], LOG
        assert_equal 1, cable.stats[:connections]
      end
    end
  end

  # Nor does that end the other's connection.
  def test_not_to_another_client
    recovering do |url, cable|
      open, gone = Array.new(2) { extended(url).tap { |client| client.subscribe(NAME) } }
      gone.socket.abort
      eventually { cable.recovery.size == 1 }
      [open, gone].each do |client|
        refute extended("#{url}?sid=#{client.welcome["sid"]}", headers: {"x-user" => "eve"}).welcome.key?("restored")
      end
      cable.broadcast("news", 1)

      assert_equal 1, open.receive["message"]
      assert extended("#{url}?sid=#{gone.welcome["sid"]}").welcome["restored"]
    end
  end

  def test_it_is_let_in_and_authorized_as_ever
    recovering do |url, cable|
      client = extended(url)
      client.subscribe(NAME)
      client.socket.abort
      eventually { cable.stats[:connections] == 0 }
      LOG << "closed"
      back = extended("#{url}?sid=#{client.welcome["sid"]}")
      assert back.welcome["restored"]
      assert_equal({"type" => "disconnect", "reason" => "restore_failed", "reconnect" => true}, back.receive)
      assert_nil back.receive
      assert_equal ["in ann", "out ann", "closed", "in ann"], LOG
      LOG << "nobody"
      assert_equal "unauthorized",
        Client.new("#{url}?sid=#{back.welcome["sid"]}", protocols: [Pelton::Cable::EXTENDED]).receive["reason"]
    end
  end

  def test_what_is_not_restored
    recovering do |url, cable|
      sids = Array.new(2) { extended(url).tap { |client| client.subscribe(NAME) }.welcome["sid"] }
      cable.disconnect # these are told to come back anew
      eventually { cable.stats[:connections] == 0 }
      [*sids, "x" * 22, "x", "../../#{"x" * 30}", ""].each do |sid|
        refute extended("#{url}?sid=#{sid}").welcome.key?("restored"), sid
      end
      client = extended(url)
      client.socket.abort
      eventually { cable.recovery.size == 1 }
      assert_equal [[], nil],
        Array.new(2) { extended("#{url}?a=1&sid=#{client.welcome["sid"]}&b=2").welcome["restored_ids"] },
        "an id is good for once"
      assert_equal({"type" => "welcome"}, connect("#{url}?sid=#{client.welcome["sid"]}").welcome)
    end
    recovering(restore: nil) { |url,| assert_equal({"type" => "welcome"}, extended(url).welcome) }
  end

  # Two servers with a hub stand for two workers.
  def test_by_another_worker
    hub = Pelton::PubSub::Hub.open
    recovering(pubsub: joined = Pelton::PubSub.new) do |url, cable|
      other_pubsub = Pelton::PubSub.new
      [joined, other_pubsub].each { |pubsub| pubsub.join(hub.path) }
      other = Pelton::Cable::Server.new(pubsub: other_pubsub, connection: Connection)
      other_url = "ws://127.0.0.1:#{Pelton::HTTP::Server.new(other).listen("tcp://127.0.0.1:0").port}/"
      gone, open = Array.new(2) { extended(url).tap { |client| client.subscribe(NAME) } }
      gone.socket.abort
      eventually { cable.recovery.size == 1 }

      [gone, open].each do |client|
        assert_equal [client.identifier(NAME)],
          extended("#{other_url}?sid=#{client.welcome["sid"]}").welcome["restored_ids"]
      end
      assert_equal 0, cable.stats[:connections]
      assert_equal 2, other.stats[:restored]
      foreign = extended(url).tap { |client| client.subscribe(NAME) }
      refute extended("#{other_url}?sid=#{foreign.welcome["sid"]}",
        headers: {"x-user" => "eve"}).welcome.key?("restored")
      assert_equal 1, cable.stats[:connections]
      refute extended("#{other_url}?sid=#{"x" * 22}").welcome.key?("restored")
    end
  ensure
    hub.close
  end

  def test_bounds
    Pelton.run do
      recovery = Pelton::Cable::Recovery.new(Pelton::PubSub.new, seconds: 100, most: 3, most_bytes: 100)
      leave = ->(identifier) { recovery.enter(:session, "me").tap { |id| recovery.leave(id, [identifier]) } }
      ids = Array.new(5) { |number| leave.call(number.to_s) }
      assert_equal [nil, nil, ["2"], ["3"]], ids.first(4).map { |id| recovery.take(id, "me") }
      leave.call("x" * 60)
      second = leave.call("y" * 60)
      assert_equal 1, recovery.size
      assert_equal ["y" * 60], recovery.take(second, "me")
      leave.call("x" * 101)
      assert_equal 0, recovery.size
      past = Pelton::Cable::Recovery.new(Pelton::PubSub.new, seconds: -1)
      assert_nil past.take(past.enter(:session, "me").tap { |id| past.leave(id, []) }, "me")
      assert_equal 0, past.size
      Pelton.stop
    end
  end

  private

  # @return [Array] a client that has gone, the identifier of its subscription, and its position
  def one_that_has_seen(url, cable, message)
    client = extended(url)
    client.subscribe(NAME)
    cable.broadcast("news", message)
    seen = client.receive.slice("epoch", "offset")
    client.socket.abort
    eventually { cable.stats[:connections] == 0 }
    [client, client.identifier(NAME), seen]
  end

  def recovering(pubsub: Pelton::PubSub.new, **options, &block)
    serving(connection: Connection, pubsub: pubsub.keep("news"), **options, &block)
  end

  def extended(url, **options) = connect(url, protocols: [Pelton::Cable::EXTENDED], **options)
end
