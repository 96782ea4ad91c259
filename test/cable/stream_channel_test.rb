# frozen_string_literal: true

require "test_helper"
require "support/cable_client"

class CableStreamChannelTest < PeltonTest
  include CableClient

  KEY = "k" * 32

  def test_signed_streams
    serving(signed_streams: KEY) do |url, cable|
      client = connect(url)
      name = cable.signed_streams.sign("room:7")
      ["Turbo::StreamsChannel", "$pubsub"].each do |channel|
        assert_equal "confirm_subscription", client.subscribe(channel, signed_stream_name: name)
      end
      cable.broadcast("room:7", "<turbo-stream></turbo-stream>")

      assert_equal ["<turbo-stream></turbo-stream>"] * 2, Array.new(2) { client.receive["message"] }
      [{signed_stream_name: name.sub("--", "--0")}, {signed_stream_name: nil}, {stream_name: "room:7"},
        {}].each do |params|
        assert_equal "reject_subscription", client.subscribe("$pubsub", **params)
      end
      assert_equal 4, cable.stats[:refused]
    end
  end

  def test_public_streams
    serving(public_streams: true) do |url, cable|
      client = connect(url)

      assert_equal "confirm_subscription", client.subscribe("$pubsub", stream_name: "news")
      cable.broadcast("news", 1)

      assert_equal 1, client.receive["message"]
      assert_equal %w[reject_subscription] * 3, [
        ["Turbo::StreamsChannel", {stream_name: "news"}],
        ["$pubsub", {stream_name: 7}],
        ["$pubsub", {signed_stream_name: "x"}]
      ]
        .map { |channel, params| client.subscribe(channel, **params) }
    end
  end

  # Others' sessions, and who is present where.
  def test_internal_topics_are_no_streams
    serving(public_streams: true, signed_streams: KEY) do |url, cable|
      client = connect(url)
      names = %w[pelton-cable-sessions pelton-cable-disconnects pelton-presence pelton-presence/room:7]

      assert_equal ["reject_subscription"], names.map { |name| client.subscribe("$pubsub", stream_name: name) }.uniq
      assert_equal "reject_subscription",
        client.subscribe("$pubsub", signed_stream_name: cable.signed_streams.sign(names.first))
    end
  end

  def test_neither_by_default
    serving do |url|
      client = connect(url)

      assert_equal(%w[reject_subscription] * 2,
        ["$pubsub", "Turbo::StreamsChannel"].map { |channel| client.subscribe(channel, stream_name: "news") })
    end
  end
end
