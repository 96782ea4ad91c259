# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub"

class PubSubOutboxTest < PeltonTest
  def setup = @outbox = Pelton::PubSub::Outbox.new("the server", limit: 100)

  def test_items_come_in_their_order_in_batches
    %w[a b c d].each { |item| @outbox.push(item, 30) }

    Pelton.run do
      assert_equal %w[a b], @outbox.take(40)
      @outbox.sent
      assert_equal 60, @outbox.bytes
      assert_equal %w[c d], @outbox.take(1_000)
    end
  end

  def test_it_is_bounded_until_what_was_taken_is_sent
    @outbox.push("a", 101)
    Pelton.run { @outbox.take(1) }
    error = assert_raises(Pelton::OverloadError) { @outbox.push("b", 1) }
    @outbox.sent
    @outbox.push("b", 1)

    assert_match(/101 bytes .* the server/, error.message)
    assert_equal 1, @outbox.bytes
  end

  def test_one_waits_for_items_of_another_thread
    Pelton.run do
      taker = Pelton.spawn { @outbox.take(1) }
      Pelton::Reactor.current.yield
      Thread.new { @outbox.push("a", 1) }.join

      assert_equal %w[a], taker.await
    end
  end

  def test_draining
    Pelton.run do
      assert @outbox.drain(Pelton::Clock.now)
      @outbox.push("a", 1)
      refute @outbox.drain(Pelton::Clock.now + 0.01)
      drained = Pelton.spawn { @outbox.drain(Pelton::Clock.now + 10) }
      @outbox.take(1)
      @outbox.sent

      assert drained.await
    end
  end
end
