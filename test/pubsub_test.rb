# frozen_string_literal: true

require_relative "test_helper"
require "pelton/pubsub"

class PubSubTest < PeltonTest
  def setup
    @pubsub = Pelton::PubSub.new
  end

  def test_a_topic_reaches_its_subscribers_alone
    Pelton.run do
      one, two, other = @pubsub.subscribe("t"), @pubsub.subscribe("t"), @pubsub.subscribe("other")
      assert_nil @pubsub.publish("t", "hello")
      @pubsub.publish("nobody", "hello")

      assert_equal [1, 1, 0], [one, two, other].map(&:size)
      assert_same one.receive, two.receive
      assert_equal({
        topics: 2,
        subscriptions: 3,
        published: 2,
        received: 1,
        dropped: 0,
        returns: 0,
        kept: 0,
        kept_bytes: 0
      }, @pubsub.stats)
    end
  end

  def test_messages
    subscription = @pubsub.subscribe("t")
    text = +"ä"
    ["\xff".b, text, "ä".encode(Encoding::ISO_8859_1)].each { |message| @pubsub.publish("t", message) }
    text << "changed"
    got = Array.new(3) { subscription.receive }

    assert_equal ["\xff".b, "ä", "ä"], got
    assert_equal [Encoding::BINARY, Encoding::UTF_8, Encoding::UTF_8], got.map(&:encoding)
    assert got.all?(&:frozen?)
  end

  def test_what_cannot_be_published
    assert_raises(ArgumentError) { @pubsub.publish("t", "\xff") }
    [1, nil, :t].each do |wrong|
      assert_raises(TypeError) { @pubsub.publish("t", wrong) }
      assert_raises(TypeError) { @pubsub.publish(wrong, "x") }
      assert_raises(TypeError) { @pubsub.subscribe(wrong) }
    end
    assert_raises(ArgumentError) { @pubsub.publish("t", "x" * ((16 << 20) + 1)) }
    ["", "x" * 1025].each { |topic| assert_raises(ArgumentError) { @pubsub.publish(topic, "x") } }
    assert_equal 0, @pubsub.stats[:published]
  end

  def test_rules_for_what_is_kept
    @pubsub.keep(/\Anews/, messages: 2).keep("news:old", messages: 0)
    %w[news:a news:a news:a news:old other].each { |topic| @pubsub.publish(topic, "x") }
    assert_equal 2, @pubsub.stats[:kept]

    @pubsub.keep(/\Anews/, messages: 1)
    @pubsub.publish("news:a", "x")
    assert_equal 1, @pubsub.stats[:kept]
    assert_raises(ArgumentError) { @pubsub.keep("t", messages: -1) }
    assert_raises(ArgumentError) { @pubsub.keep("t", seconds: 0) }
  end

  def test_events
    events = []
    listening = Pelton::Notifications.subscribe(/pubsub/) do |event|
      events << [event.name, event.payload.slice(:topic, :bytes)]
    end
    @pubsub.subscribe("t", max_bytes: 0, slow: :drop)
    2.times { @pubsub.publish("t", "xyz") }

    assert_equal [["publish.pubsub", {topic: "t", bytes: 3}]] * 2, events.select { |name,| name.start_with?("publish") }
    assert_includes events, ["overflow.pubsub", {topic: "t"}]
  ensure
    Pelton::Notifications.unsubscribe(listening)
  end

  def test_this_process_has_one
    subscription = Pelton::PubSub.subscribe("pubsub_test")
    before = Pelton::Metrics.stats["pubsub_published"]
    Pelton::PubSub.publish("pubsub_test", "x")

    assert_equal "x", subscription.receive
    assert_equal before + 1, Pelton::Metrics.stats["pubsub_published"]
    assert_equal Pelton::PubSub.default.stats, Pelton::PubSub.stats
  ensure
    subscription.close
  end

  # The thread's reactor lives on, and may run again.
  def test_a_subscription_with_a_block_ends_with_its_run
    pubsub = Pelton::PubSub.new
    got = []
    %w[first second].each do |name|
      Pelton.run do
        pubsub.subscribe("t") { |message| got << "#{name}: #{message}" }
        queue = pubsub.subscribe("t")
        pubsub.publish("t", name)
        eventually { got.last == "#{name}: #{name}" }
        queue.close
      end
    end

    assert_equal ["first: first", "second: second"], got
    assert_equal 0, pubsub.stats[:subscriptions]
  end

  # For a page that shows a state and subscribes later.
  def test_the_position_of_a_topic
    pubsub = Pelton::PubSub.new.keep("t")
    assert_nil pubsub.position("plain")
    Pelton.run do
      empty = pubsub.position("t")
      subscription = pubsub.subscribe("t", after: empty)
      assert_equal false, subscription.gap?
      assert_equal 0, subscription.size
      pubsub.publish("t", "one")
      first = pubsub.position("t")
      pubsub.publish("t", "two")
      found = [empty, first, pubsub.position("t")].map { |position| pubsub.subscribe("t", after: position) }

      assert_equal [2, 1, 0], found.map(&:size)
      assert_equal [false], found.map(&:gap?).uniq
      old = empty.sub(/\d+\z/) { |time| (time.to_i - 301_000).to_s }
      assert_equal [true, true],
        [empty.sub(/.*:/, "other:"), old].map { |position| pubsub.subscribe("t", after: position).gap? }
    end
  end
end
