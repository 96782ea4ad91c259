# frozen_string_literal: true

require "test_helper"
require "support/cable_client"
require "support/resumable_texts"

# Texts over a cable.
class CableFollowerTest < PeltonTest
  include CableClient
  include ResumableTexts

  class << self
    attr_accessor :stream
  end

  class TextChannel < Pelton::Cable::Channel
    def subscribed = follow_stream(CableFollowerTest.stream, after: params[:after])

    def leave = unfollow_stream(CableFollowerTest.stream)
  end

  class ShortChannel < Pelton::Cable::Channel
    def subscribed = follow_stream(CableFollowerTest.stream) { |event| event.position if event.type == :append }
  end

  class Connection < Pelton::Cable::Connection
    identified_by :user

    def connect = self.user = "ann"
  end

  TEXT = TextChannel.name
  NAME = "pelton-text:one"
  EXTENDED = {protocols: [Pelton::Cable::EXTENDED]}.freeze

  def setup
    super # of ResumableTexts
    CableFollowerTest.stream = stream
  end

  def test_a_client_gets_a_text_while_it_grows_and_its_end
    served do |url|
      client = subscribed(url)
      stream.write do |out|
        out << "Hel"

        assert_equal({"event" => "update", "text" => "Hel"}, told(client))
        out << "lo"

        assert_equal({"event" => "append", "text" => "lo"}, told(client))
      end

      assert_equal({"event" => "finished"}, told(client))
    end
  end

  def test_a_client_of_the_extended_protocol_goes_on_where_it_was
    served do |url|
      stream.write do |out|
        out << "Hello"
        client = subscribed(url, **EXTENDED)
        await(client) { |frame| frame["message"]["text"] == "Hello" }

        assert_equal({"stream_id" => NAME, "epoch" => "1", "offset" => 5},
          client.frame.slice("stream_id", "epoch", "offset"))
        client.socket.close
        out << ", world"
        client = connect(url, **EXTENDED)
        client.send(command: "subscribe", identifier: client.identifier(TEXT),
          history: {streams: {NAME => {epoch: "1", offset: 5}}})

        assert_equal %w[confirm_subscription confirm_history], [client.receive["type"], client.receive["type"]]
        assert_equal({"event" => "append", "text" => ", world"}, told(client))
      end
    end
  end

  # It cannot say where it was.
  def test_a_client_of_the_plain_protocol_gets_the_text_from_its_beginning
    served do |url|
      stream.write do |out|
        out << "Hello"
        2.times do
          client = subscribed(url, after: "1:3")

          assert_equal({"event" => "update", "text" => "Hello"}, told(client))
          client.socket.close
        end
      end
    end
  end

  def test_a_page_has_a_part_of_the_text
    served do |url|
      stream.write do |out|
        out << "Hello"

        assert_equal({"event" => "append", "text" => "lo"}, told(subscribed(url, after: "1:3", **EXTENDED)))
      end
    end
  end

  def test_positions_that_are_none
    served do |url|
      stream.write { |out| out << "Hello" }
      [{epoch: "1", offset: "x"}, {epoch: {}, offset: 3}, [], 7, {}].each do |position|
        client = connect(url, **EXTENDED)
        client.send(command: "subscribe", identifier: client.identifier(TEXT), history: {streams: {NAME => position}})
        2.times { client.receive }

        assert_equal({"event" => "update", "text" => "Hello"}, told(client), position.inspect)
      end
    end
  end

  def test_a_failure_and_an_interruption_reach_the_client_and_the_next_run
    served do |url|
      client = subscribed(url)
      assert_raises(IOError) { stream.write { |out| (out << "half") && raise(IOError) } }
      await(client) { |frame| frame["message"] == {"event" => "failed", "error" => "IOError"} }
      job = Pelton.spawn { stream.write { |out| (out << "again") && sleep } }
      await(client) { |frame| frame["message"] == {"event" => "update", "text" => ""} }
      await(client) { |frame| frame["message"] == {"event" => "update", "text" => "again"} }
      job.cancel
      await(client) { |frame| frame["message"]["event"] == "interrupted" }
      stream.write { |out| out << "whole" }
      await(client) { |frame| frame["message"] == {"event" => "update", "text" => "whole"} }

      assert_equal({"event" => "finished"}, told(client))
    end
  end

  def test_a_session_that_is_restored_goes_on_without_a_gap
    served do |url|
      stream.write do |out|
        out << "Hello"
        client = subscribed(url, **EXTENDED)
        await(client) { |frame| frame["message"]["text"] == "Hello" }
        client.socket.abort
        again = CableClient::Client.new(url, **EXTENDED, headers: {"x-anycable-restore-sid" => client.welcome["sid"]})

        assert again.receive["restored"]
        again.send(command: "history", identifier: again.identifier(TEXT),
          history: {streams: {NAME => {epoch: "1", offset: 5}}})
        out << "!"

        assert_equal "confirm_history", again.receive["type"]
        await(again) { |frame| frame["message"]["text"] == "!" }
      end
    end
  end

  # Its text has more bytes than may wait for a socket.
  def test_a_client_that_reads_slowly_gets_the_text_as_fast_as_it_takes_it
    served(output: 200_000) do |url, cable|
      text = "0123456789" * 100_000
      stream.write { |out| out << text }
      clients = Array.new(3) { subscribed(url) }
      clients.each do |client|
        got = +""
        await(client) { |frame| got << frame["message"]["text"].to_s && frame["message"]["event"] == "finished" }

        assert_equal text, got
      end

      assert_equal 0, cable.stats[:slow]
    end
  end

  def test_a_message_of_the_channel_s_own
    served do |url|
      stream.write { |out| out << "Hello" }

      assert_equal "1:5", told(subscribed(url, channel: ShortChannel.name))
    end
  end

  def test_who_leaves_gets_no_more_and_holds_nothing
    served do |url|
      job = Pelton.spawn { stream.write { |out| (out << "Hello") && sleep } }
      clients = Array.new(3) { subscribed(url).tap { |client| told(client) } }

      assert_equal 1, feeds
      clients[0].perform(TEXT, "leave")
      clients[1].send(command: "unsubscribe", identifier: clients[1].identifier(TEXT))
      clients[2].socket.close
      eventually("the feed's end") { feeds.zero? }
    ensure
      job&.cancel
    end
  end

  # The client comes back with its position.
  def test_a_database_that_is_away
    served do |url|
      @store.away = true
      client = subscribed(url)

      assert_equal({"type" => "disconnect", "reason" => "subscription_failed", "reconnect" => true},
        client.receive.slice("type", "reason", "reconnect"))
      assert_match(/the database is away/, @error.message)
    end
  end

  private

  def served(**options)
    Pelton.on_error { |error,| @error = error }
    serving(pubsub: @pubsub, connection: Connection, **options) { |url, cable| yield url, cable }
  ensure
    Pelton.on_error
  end

  def subscribed(url, channel: TEXT, protocols: [Pelton::Cable::PROTOCOL], **params)
    client = connect(url, protocols: protocols)
    client.singleton_class.attr_accessor(:frame)

    assert_equal "confirm_subscription", client.subscribe(channel, **params)
    client
  end

  # @return [Object] the next message, but for "running", which may come before or after the first text
  def told(client)
    message = nil
    await(client) { |frame| (message = frame["message"]) != {"event" => "running"} }
    message
  end

  # Reads until a frame of the text is the one.
  def await(client)
    loop do
      frame = client.receive or flunk("the socket is closed")
      client.frame = frame if client.respond_to?(:frame=)
      return true if yield(frame)
    end
  end

  def feeds = Pelton::ResumableStream::Feed.size
end
