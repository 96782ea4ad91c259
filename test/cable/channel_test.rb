# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

class CableChannelTest < PeltonTest
  include CableClient

  class BaseChannel < Pelton::Cable::Channel
    def receive(data) = transmit({"received" => data["x"]})

    def inherited = transmit("inherited")

    private

    def hidden = transmit("hidden")
  end

  class StreamChannel < BaseChannel
    def subscribed
      stream_from("plain")
      stream_from("filtered") do |message|
        sleep 0.001
        transmit(message["n"] * 2) if message["n"] > 1
      end
      stream_for(Model.new)
    end

    def stop = stop_stream_from("plain")

    def stop_all = stop_all_streams
  end

  class RejectingChannel < Pelton::Cable::Channel
    def subscribed
      stream_from("never")
      reject
    end

    def unsubscribed = raise("never")
  end

  class Model
    def to_param = "7"
  end

  NAME = StreamChannel.name

  def test_streams
    serving do |url, cable|
      client = connect(url)
      client.subscribe(NAME)
      cable.broadcast("plain", {"a" => 1})
      assert_equal({"a" => 1}, client.receive["message"])
      4.times { |number| cable.broadcast("filtered", {n: number}) }
      assert_equal [4, 6], Array.new(2) { client.receive["message"] }
      cable.broadcast(StreamChannel.stream_name(Model.new), "for 7")
      assert_equal "for 7", client.receive["message"]

      client.perform(NAME, "stop")
      eventually { cable.streams.size == 1 }
      cable.broadcast("plain", "nobody")
      cable.broadcast("filtered", {n: 5})
      assert_equal 10, client.receive["message"]
      client.perform(NAME, "stop_all")
      eventually { cable.streams.size == 0 }
      assert_equal 1, cable.pubsub.stats[:subscriptions], "that of Disconnects alone"
    end
  end

  def test_what_a_client_may_perform
    assert_equal %w[inherited receive stop stop_all], StreamChannel.actions.keys.sort
    assert_empty RejectingChannel.actions
    serving do |url,|
      client = connect(url)
      client.subscribe(NAME)
      client.send(command: "message", identifier: client.identifier(NAME), data: %({"x":5}))
      client.perform(NAME, "inherited")

      assert_equal [{"received" => 5}, "inherited"], Array.new(2) { client.receive["message"] }
    end
  end

  def test_who_is_rejected_has_no_stream
    serving do |url, cable|
      client = connect(url)
      assert_equal "reject_subscription", client.subscribe(RejectingChannel.name)
      assert_equal [0, 0, 1], cable.stats.values_at(:streams, :subscriptions, :rejected)
      client.socket.close
      eventually { cable.stats[:connections] == 0 }
      assert_equal 0, cable.stats[:errors]
    end
  end

  def test_a_message_for_a_model_from_anywhere
    subscription = Pelton::PubSub.subscribe(StreamChannel.stream_name("x"))
    StreamChannel.broadcast_to("x", {a: nil})

    assert_equal "CableChannelTest::StreamChannel:x", subscription.topic
    assert_equal %({"a":null}), subscription.receive
  ensure
    subscription.close
  end
end
