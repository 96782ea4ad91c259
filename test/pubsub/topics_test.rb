# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub"

class PubSubTopicsTest < PeltonTest
  Topics = Pelton::PubSub::Topics
  Rule = Pelton::PubSub::History::Rule

  def setup
    @topics = Topics.new(kept_bytes: 1 << 20)
  end

  def subscribe(topic = "t", after: nil, max_bytes: 1000, slow: :drop)
    Pelton::PubSub::Subscription.new(@topics, topic, max_bytes: max_bytes, slow: slow, block: nil).tap do |one|
      @topics.add(one, after, @topics.epoch)
    end
  end

  def deliver(message, topic: "t", position: nil, kept: false)
    @topics.deliver(topic, message, @topics.rule(topic), position, kept, 0)
  end

  def received(subscription) = Array.new(subscription.size) { subscription.receive }

  def test_a_topic_is_there_while_it_has_subscriptions
    one, other = subscribe, subscribe
    assert_equal 1, @topics.size
    assert_equal 2, @topics.subscriptions
    one.close
    other.close

    assert_equal 0, @topics.size
    assert_nil deliver("nobody")
    assert_equal 0, @topics.received
  end

  def test_all_subscriptions_of_a_topic_get_its_messages
    ones = [subscribe, subscribe, subscribe("other")]
    %w[a b].each { |message| assert_nil deliver(message) }

    assert_equal [%w[a b], %w[a b], []], ones.map { |one| received(one) }
    assert_equal 2, @topics.received
  end

  def test_slow_ones_are_returned
    slow = subscribe(max_bytes: 0)
    quick = subscribe
    deliver("a")

    assert_equal [nil, [slow]], deliver("b").first(2)
    assert_equal %w[a b], received(quick)
  end

  def test_one_that_has_ended_is_forgotten
    one = subscribe
    one.instance_variable_get(:@mailbox).close # as when its reactor has ended
    deliver("a")

    assert_equal 0, @topics.subscriptions
  end

  def test_the_last_rule_applies
    @topics.keep(/./, Rule.new(5, 10))
    @topics.keep("t", Rule.new(0, 10))

    assert_nil @topics.rule("t")
    assert_equal 5, @topics.rule("u").messages
  end

  def test_kept_messages_and_later_ones_leave_no_gap
    @topics.keep("t", Rule.new(10, 60))
    deliver("a")
    seen = @topics.position("t", @topics.epoch)
    deliver("b")
    deliver("c", position: nil, kept: true)
    one = subscribe(after: seen)
    deliver("d")

    assert_equal %w[b c d], received(one)
    refute_predicate one, :gap?
    assert_equal [%w[b c d], true],
      @topics.since("t", seen, @topics.epoch).then { |found, complete| [found.map(&:first), complete] }
    assert_equal %w[a b c d], @topics.recent("t", 60).first.map(&:first)
    assert_equal 4, @topics.kept
  end

  def test_a_position_that_is_not_known
    @topics.keep("t", Rule.new(10, 60))
    deliver("a")
    one = subscribe(after: "other:1")

    assert_predicate one, :gap?
    assert_empty received(one)
  end
end
