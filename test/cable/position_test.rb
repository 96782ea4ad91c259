# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

# What a page learns that carries the position of its render to its first subscription.
class CablePositionTest < PeltonTest
  include CableClient

  class RoomChannel < Pelton::Cable::Channel
    def subscribed
      stream_from("room")
      stream_from("plain")
    end
  end

  NAME = RoomChannel.name

  def setup
    super
    @pubsub = Pelton::PubSub.new.keep("room", messages: 3)
  end

  def test_the_attribute
    @pubsub.publish("room", "1")
    position = JSON.parse(Pelton::Cable.position("room", "plain", pubsub: @pubsub))

    assert_equal %w[room], position.keys
    assert_equal 1, position["room"]["offset"]
    assert_equal @pubsub.position("room"), position["room"].values_at("epoch", "offset").join(":")
  end

  # With and without messages before.
  def test_a_client_that_knows_of_positions
    [0, 1].each do |before|
      page do |url, cable|
        before.times { cable.broadcast("room", "before") }
        position = JSON.parse(Pelton::Cable.position("room", pubsub: @pubsub))
        2.times { |number| cable.broadcast("room", number) }
        client = connect(url, protocols: [Pelton::Cable::EXTENDED])
        client.send(command: "subscribe", identifier: client.identifier(NAME), history: {streams: position})

        assert_equal ["confirm_subscription", 0, 1, "confirm_history"], texts(client, 4)
      end
    end
  end

  # Such as Turbo's element, whose attribute data-position is a parameter of its subscription.
  def test_any_other_client
    [Pelton::Cable::PROTOCOL, Pelton::Cable::EXTENDED].each do |protocol|
      page do |url, cable|
        position = Pelton::Cable.position("room", pubsub: @pubsub)
        2.times { |number| cable.broadcast("room", number) }
        client = connect(url, protocols: [protocol])
        assert_equal "confirm_subscription", client.subscribe(NAME, position: position)
        cable.broadcast("room", 2)

        assert_equal [0, 1, 2], texts(client, 3)
      end
    end
  end

  def test_what_is_not_kept_any_more_is_told
    page do |url, cable|
      cable.broadcast("room", 0)
      position = Pelton::Cable.position("room", pubsub: @pubsub)
      5.times { |number| cable.broadcast("room", number) }
      client = connect(url, protocols: [Pelton::Cable::EXTENDED])
      assert_equal "confirm_subscription", client.subscribe(NAME, position: position)
      assert_equal ["reject_history"], texts(client, 1)
    end
  end

  # Who connects again later has the same parameters.
  def test_an_old_position_and_what_is_none
    page do |url, cable|
      cable.broadcast("room", 0)
      position = JSON.parse(Pelton::Cable.position("room", pubsub: @pubsub))
      cable.broadcast("room", 1)
      client = connect(url)
      position["room"]["at"] -= 61_000
      [JSON.generate(position), "{", "1", "[]", "x" * 3000, JSON.generate({room: 1}), 7, {}, nil].each do |text|
        client.subscribe(NAME, position: text)
      end
      client.send(command: "subscribe", identifier: "position")
      assert_equal ["reject_subscription"], texts(client, 1)
    end
  end

  private

  def page(&block) = serving(pubsub: @pubsub, &block)

  def texts(client, count)
    Array.new(count) do
      client.receive.then { |message| message.key?("message") ? message["message"] : message["type"] }
    end
  end
end
