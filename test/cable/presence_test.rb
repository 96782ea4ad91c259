# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

class CablePresenceTest < PeltonTest
  include CableClient

  class RoomChannel < Pelton::Cable::Channel
    def subscribed
      track_presence("room", id: params[:id], info: params[:info])
    end

    def who = transmit(presence_of("room"))

    def leave = leave_presence("room")
  end

  class OwnChannel < Pelton::Cable::Channel
    def subscribed = track_presence("room") { |event| transmit(event["id"].upcase) }
  end

  class RejectingChannel < Pelton::Cable::Channel
    def subscribed
      track_presence("room", id: "never")
      reject
    end
  end

  NAME = RoomChannel.name

  # Two processes, and what the watchers of each were told.
  def presences(**options)
    pubsub = Pelton::PubSub.new
    Pelton.run do
      one, two = Array.new(2) { Pelton::Cable::Presence.new(pubsub, **options) }
      events = Hash.new { |hash, key| hash[key] = [] }
      yield one, two, events
      Pelton.stop
    end
  end

  def track(presence, events, name, id = nil, info = nil)
    presence.track("s", id, info) { |event| events[name] << event.values_at("type", "id") }
  end

  def test_members_of_two_processes
    presences do |one, two, events|
      ann = track(one, events, :ann, "ann", {"n" => 1})
      bob = track(two, events, :bob, :bob)

      assert_equal [{"ann" => {"n" => 1}, "bob" => nil}] * 2, [one, two].map { |presence| presence.members("s") }
      ann.call

      assert_equal({"bob" => nil}, two.members("s"), "nobody tracks it any more in the first")
      assert_equal({}, one.members("s"), "nobody tracks it any more in the first")
      assert_equal [%w[join ann], %w[join bob]], events[:ann]
      assert_equal [%w[join bob], %w[leave ann]], events[:bob], "those who were there are no event"
      2.times { bob.call }

      assert_equal 0, one.size
      assert_equal 0, two.size
      assert_equal({}, two.members("s"))
    end
  end

  def test_somebody_with_several_sockets
    presences do |one, two, events|
      track(one, events, :watcher)
      first, second, elsewhere = track(one, events, 1, "ann"), track(one, events, 2, "ann"),
        track(two, events, 3, "ann")
      [first, elsewhere].each(&:call)

      assert_equal [%w[join ann]], events[:watcher]
      second.call

      assert_equal [%w[join ann], %w[leave ann]], events[:watcher]
    end
  end

  def test_a_process_that_was_killed_takes_its_members_along
    presences(alive: 0.01) do |one, two, events|
      track(one, events, :watcher)
      track(two, events, :two, "bob")
      two.instance_variable_get(:@timer).cancel # it gives no more signs of life
      eventually("the end of bob") { events[:watcher].include?(%w[leave bob]) }

      assert_empty one.members("s")
      two.send(:live)
      eventually("bob's return") { one.members("s").key?("bob") }
    end
  end

  # Each sign of life would report it.
  def test_a_carrier_that_is_down_is_reported_once
    Pelton.run do
      pubsub = Pelton::PubSub.new
      calls = 0
      pubsub.define_singleton_method(:publish) { |*| (calls += 1) && raise(Pelton::OverloadError, "full") }
      reports = Pelton::Test.unrescued do
        stop = Pelton::Cable::Presence.new(pubsub, alive: 0.002).track("s", "ann", nil) {}
        eventually { calls >= 5 }
        stop.call
      end

      assert_equal ["full"], reports.map(&:message)
    end
  end

  def test_what_is_too_much
    presences do |one, _, events|
      assert_raises(Pelton::Cable::Refused) { track(one, events, 1, "x" * 256) }
      assert_raises(Pelton::Cable::Refused) { track(one, events, 1, "x", "y" * 5000) }
      assert_equal 0, one.size
      1000.times { |number| one.track("full", number, nil) {} }

      assert_match(/1000 members: that is the most/,
        assert_raises(Pelton::Cable::Refused) { one.track("full", "x", nil) {} }.message)
      assert one.track("full", 7, nil) {}
    end
  end

  def test_in_channels
    serving do |url|
      plain, extended = connect(url), connect(url, protocols: [Pelton::Cable::EXTENDED])
      plain.send(command: "subscribe", identifier: plain.identifier(NAME, id: "ann"))

      assert_equal({"presence" => {"type" => "join", "id" => "ann", "info" => nil}}, plain.receive["message"])
      assert_equal "confirm_subscription", plain.receive["type"]
      id = extended.identifier(NAME, id: "bob", info: {"name" => "Bob"})
      extended.send(command: "subscribe", identifier: id)

      assert_equal({
        "identifier" => id,
        "type" => "presence",
        "message" => {"type" => "join", "id" => "bob", "info" => {"name" => "Bob"}}
      }, extended.receive)
      assert_equal "confirm_subscription", extended.receive["type"]
      extended.send(command: "presence", identifier: id)

      assert_equal({
        "type" => "info",
        "total" => 2,
        "records" => [{"id" => "ann", "info" => nil}, {"id" => "bob", "info" => {"name" => "Bob"}}]
      }, extended.receive["message"])
      extended.socket.close

      assert_equal [{"type" => "join", "id" => "bob", "info" => {"name" => "Bob"}}, {"type" => "leave", "id" => "bob"}],
        Array.new(2) { plain.receive["message"]["presence"] }
      plain.perform(NAME, "leave", id: "ann")
      plain.perform(NAME, "who", id: "ann")

      assert_equal({}, plain.receive["message"])
    end
  end

  def test_a_channel_that_says_it_in_its_own_way
    serving do |url, cable|
      watcher, client = connect(url), connect(url, protocols: [Pelton::Cable::EXTENDED])
      watcher.subscribe(OwnChannel.name)

      assert_equal "reject_subscription",
        client.tap { |one| one.send(command: "subscribe", identifier: one.identifier(RejectingChannel.name)) }
          .then { [_1.receive, _1.receive].last["type"] }
      client.send(command: "subscribe", identifier: client.identifier(NAME, id: "x" * 300))

      assert_equal ["NEVER", "NEVER"], Array.new(2) { watcher.receive["message"] }
      assert_equal "reject_subscription", client.receive["type"]
      client.send(command: "presence", identifier: client.identifier(NAME))
      watcher.send(command: "presence", identifier: watcher.identifier(OwnChannel.name))
      client.socket.close
      watcher.socket.close
      eventually("the end of the stream") { cable.presence.size.zero? }

      assert_equal 3, cable.stats[:refused]
    end
  end
end
