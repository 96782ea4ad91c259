# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

class CableStreamsTest < PeltonTest
  include CableClient

  class NewsChannel < Pelton::Cable::Channel
    def subscribed = stream_from("news")
  end

  def test_a_message_is_encoded_once_for_each_identifier
    serving do |url, cable|
      clients = Array.new(6) do |number|
        connect(url).tap { |client| client.subscribe(NewsChannel.name, half: number % 2) }
      end
      frames = 0
      TracePoint.new(:call) do |point|
        frames += 1 if point.method_id == :frame && point.self == Pelton::HTTP::WebSocketMessage
      end.enable do
        cable.broadcast("news", "x" * 1000)
      end

      assert_equal 2, frames
      assert_equal clients.map { |client|
        [client.identifier(NewsChannel.name, half: clients.index(client) % 2), "x" * 1000]
      },
        clients.map { |client| client.receive.values_at("identifier", "message") }
      assert_equal [1, 6], cable.stats.values_at(:streams, :sent)
      assert_equal 1, cable.pubsub.stats[:subscriptions] - 1, "beside that of Disconnects"
    end
  end

  def test_a_stream_ends_with_its_last_subscriber
    serving do |url, cable|
      clients = Array.new(3) { connect(url).tap { |client| client.subscribe(NewsChannel.name) } }
      clients.each { |client| client.socket.close }
      eventually { cable.stats[:streams] == 0 }

      assert_equal 1, cable.pubsub.stats[:subscriptions], "that of Disconnects"
      again = connect(url)
      again.subscribe(NewsChannel.name)
      cable.broadcast("news", 1)
      assert_equal 1, again.receive["message"]
    end
  end

  # Such as a server that must be asked first.
  def test_subscribers_that_come_while_the_topic_waits_share_the_stream
    slow = Pelton::PubSub.new
    def slow.attach(...) = sleep(0.01) && super
    serving(pubsub: slow) do |url, cable|
      clients = Array.new(3) { connect(url) }
      clients.map { |client| Pelton.spawn { client.subscribe(NewsChannel.name) } }.each(&:await)
      cable.broadcast("news", 1)
      assert_equal [1, 1, 1], clients.map { |client| client.receive["message"] }
      assert_equal 1, slow.stats[:subscriptions] - 1
      clients.each { |client| client.socket.close }
      eventually { cable.stats[:streams] == 0 && slow.stats[:subscriptions] == 1 }
    end
  end

  class BothChannel < Pelton::Cable::Channel
    def subscribed = params[:block] ? stream_from("news") { |message| transmit(message) } : stream_from("news")
  end

  # Threads publish more than this thread can take meanwhile, or the other processes could not be reached.
  def test_clients_of_a_stream_that_has_lost_messages_come_back
    serving do |url, cable|
      quiet = connect(url)
      clients = [{}, {block: true}].map do |params|
        connect(url).tap { |client| client.subscribe(BothChannel.name, **params) }
      end
      cable.pubsub._lost(["news"])
      assert_equal [["messages_lost", true, nil]] * 2,
        clients.map { |client| client.receive.values_at("reason", "reconnect") << client.receive }
      assert_equal [1013, 1013], clients.map { |client| client.socket.close_code }
      assert_equal 2, cable.stats[:gaps]
      assert_equal "confirm_subscription", quiet.subscribe(BothChannel.name)
    end
  end

  def test_a_thread_may_publish_more_than_a_megabyte_at_once
    serving(output: 16 << 20) do |url, cable|
      client = connect(url)
      client.subscribe(NewsChannel.name)
      Thread.new { 60.times { cable.broadcast("news", "x" * 50_000) } }.join

      assert_equal [50_000] * 60, Array.new(60) { client.receive["message"].size }
    end
  end

  def test_an_observer_learns_what_was_sent
    serving do |url, cable|
      seen = []
      cable.streams.observer = ->(*facts) { seen << facts }
      client = connect(url)
      client.subscribe(NewsChannel.name)
      cable.broadcast("news", 1)

      assert_equal [["news", client.identifier(NewsChannel.name), "1", 1]], seen
    end
  end
end
