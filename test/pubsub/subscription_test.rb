# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub"
require "pelton/test"

class PubSubSubscriptionTest < PeltonTest
  def setup
    @pubsub = Pelton::PubSub.new
  end

  def test_a_queue
    Pelton.run do
      subscription = @pubsub.subscribe("t")
      waiting = Pelton.spawn { subscription.receive }
      Pelton::Reactor.current.yield
      3.times { |number| @pubsub.publish("t", number.to_s) }

      assert_equal %w[0 1 2], [waiting.await, subscription.receive, subscription.receive]
      assert_raises(Pelton::TimeoutError) { subscription.receive(timeout: 0.001) }
      @pubsub.publish("t", "late")
      subscription.close
      @pubsub.publish("t", "too late")
      assert_equal "late", subscription.receive
      assert_nil subscription.receive
      assert_equal 0, @pubsub.stats[:subscriptions]
    end
  end

  def test_each_closes_it_however_it_is_left
    Pelton.run do
      subscription = @pubsub.subscribe("t")
      @pubsub.publish("t", "a")
      assert_raises(RuntimeError) { subscription.each { raise "left" } }
      assert_predicate subscription, :closed?

      reading = Pelton.spawn { @pubsub.subscribe("t").each {} }
      eventually { @pubsub.stats[:subscriptions] == 1 }
      reading.cancel
      eventually { @pubsub.stats[:subscriptions] == 0 }
    end
  end

  def test_several_receivers_and_the_end
    Pelton.run do
      subscription = @pubsub.subscribe("t")
      receivers = Array.new(3) { Pelton.spawn { subscription.receive } }
      Pelton::Reactor.current.yield
      @pubsub.publish("t", "one")
      subscription.close

      assert_equal [nil, nil, "one"], receivers.map(&:await).sort_by(&:to_s)
    end
  end

  # Threads publish while its thread is busy: what is beyond the limit is lost, and it learns that before any later
  # message.
  def test_what_passes_messages_on_learns_of_a_gap
    output = StringIO.new
    Pelton.logger = output
    Pelton.run do
      seen = []
      @pubsub.attach("t", max_bytes: 300, gap: -> { seen << :gap }) { |message| seen << message }
      2.times do |round|
        Thread.new { 10.times { |number| @pubsub.publish("t", number.to_s) } }.join
        eventually { seen.last == :gap }
        @pubsub.publish("t", "after #{round}")
      end

      assert_equal ["0", "1", "2", :gap, "after 0", "0", "1", "2", :gap, "after 1"], seen
      assert_equal 14, @pubsub.stats[:dropped]
      assert_equal 1, output.string.scan("published faster than they are taken").size
    end
  ensure
    Pelton.logger = $stderr
  end

  def test_lost_messages
    Pelton.run do
      seen = []
      queues = %w[t u].map { |topic| @pubsub.subscribe(topic) }
      @pubsub.attach("t", gap: -> { seen << :gap }) { |message| seen << message }
      @pubsub._lost(%w[t nobody])
      @pubsub.publish("t", "dropped, as the gap is not told yet")
      eventually { seen == [:gap] }
      assert_equal [true, false], queues.map(&:gap?)
      @pubsub._lost
      eventually { seen == [:gap, :gap] }
      assert_equal [true, true], queues.map(&:gap?)
    end
  end

  # The block may wait: its messages keep their order, and nobody else waits.
  def test_a_block_is_called_with_one_message_after_the_other
    Pelton.run do
      seen = []
      @pubsub.subscribe("t") do |message|
        sleep 0.001
        seen << message
        raise "no" if message == "1"
      end
      quick = @pubsub.subscribe("t")
      reports = Pelton::Test.unrescued do
        5.times { |number| @pubsub.publish("t", number.to_s) }
        assert_equal 5, quick.size
        eventually { seen.size == 5 }
      end

      assert_equal %w[0 1 2 3 4], seen
      assert_equal ["no"], reports.map(&:message)
    end
  end

  def test_a_block_may_publish_and_close
    Pelton.run do
      seen = []
      subscription = @pubsub.subscribe("t") do |message|
        seen << message
        @pubsub.publish("t", "#{message}!")
        subscription.close if message == "a!!"
      end
      @pubsub.publish("t", "a")
      eventually { subscription.closed? }
      5.times { Pelton::Reactor.current.yield }

      assert_equal %w[a a! a!!], seen
      assert_equal 0, @pubsub.stats[:subscriptions]
      assert_raises(Pelton::Error) { subscription.receive }
    end
  end

  # ---- slow subscribers

  def test_a_slow_one_ends_with_an_error
    Pelton.run do
      slow, quick = @pubsub.subscribe("t", max_bytes: 1000), @pubsub.subscribe("t")
      8.times { |number| @pubsub.publish("t", number.to_s * 200) }

      assert_equal 8, quick.size
      assert_equal true, slow.closed?
      assert_equal 4, slow.size
      assert_equal 1, slow.dropped
      4.times { |number| assert_equal number.to_s * 200, slow.receive }
      assert_match(/slow: :drop/, assert_raises(Pelton::OverloadError) { slow.receive }.message)
      assert_equal 1, @pubsub.stats[:dropped]
    end
  end

  def test_a_slow_block_ends_with_a_report
    Pelton.run do
      subscription = @pubsub.subscribe("t", max_bytes: 0) {}
      reports = Pelton::Test.unrescued { 2.times { @pubsub.publish("t", "x") } }

      assert_equal true, subscription.closed?
      assert_equal [Pelton::OverloadError], reports.map(&:class)
    end
  end

  def test_a_slow_one_may_miss_messages
    Pelton.run do
      slow = @pubsub.subscribe("t", max_bytes: 0, slow: :drop)
      5.times { |number| @pubsub.publish("t", number.to_s) }
      assert_equal "0", slow.receive
      assert_equal 4, slow.dropped
      @pubsub.publish("t", "last")

      assert_equal "last", slow.receive
    end
  end

  def test_a_callable_decides
    Pelton.run do
      seen = []
      slow = @pubsub.subscribe("t", max_bytes: 0, slow: ->(one, message) { seen << [one, message] })
      3.times { |number| @pubsub.publish("t", number.to_s) }

      assert_equal [[slow, "1"], [slow, "2"]], seen
      assert_raises(ArgumentError) { @pubsub.subscribe("t", slow: :wait) }
    end
  end

  # ---- threads

  def test_a_queue_on_a_thread_without_a_reactor
    ready = Thread::Queue.new
    thread = Thread.new do
      subscription = @pubsub.subscribe("t")
      ready << true
      Array.new(100) { subscription.receive(timeout: 10) }
    end
    ready.pop
    Pelton.run { 100.times { |number| @pubsub.publish("t", number.to_s) } }

    assert_equal Array.new(100, &:to_s), thread.value
    assert_raises(Pelton::NotRunningError) { @pubsub.subscribe("t") {} }
  end

  def test_a_block_is_called_on_its_own_thread_alone
    Pelton.run do
      seen, direct = [], []
      @pubsub.subscribe("t") { |message| seen << [message, Thread.current] }
      @pubsub.attach("t") { |message| direct << [message, Thread.current] }
      Array.new(4) { |number| Thread.new { 50.times { |turn| @pubsub.publish("t", "#{number}.#{turn}") } } }
        .each(&:join)
      @pubsub.publish("t", "last")
      eventually { seen.size == 201 && direct.size == 201 }

      assert_equal seen, direct
      assert_equal [Thread.current], seen.map(&:last).uniq
      4.times do |number|
        assert_equal Array.new(50) { |turn| "#{number}.#{turn}" }, seen.map(&:first).grep(/\A#{number}\./)
      end
    end
  end

  def test_a_reactor_that_has_ended_takes_its_subscriptions_along
    Thread.new { Pelton.run { @pubsub.subscribe("t") {} } }.join
    @pubsub.publish("t", "x")

    eventually { @pubsub.stats[:subscriptions] == 0 }
  end

  # ---- messages that are kept

  def test_it_begins_after_a_position
    Pelton.run do
      @pubsub.keep("t", messages: 3)
      first = @pubsub.subscribe("t")
      5.times { |number| @pubsub.publish("t", number.to_s) }
      3.times { first.receive }
      resumed = @pubsub.subscribe("t", after: first.position)
      @pubsub.publish("t", "5")

      assert_equal %w[3 4 5], Array.new(3) { resumed.receive }
      assert_equal false, resumed.gap?
      assert_equal first.position[/.*:/] + "6", resumed.position
      late = @pubsub.subscribe("t", after: "#{first.position[/\w+/]}:1")
      assert_equal true, late.gap?
      assert_equal 0, late.size
      assert_equal resumed.position, @pubsub.subscribe("t").position
      assert_nil @pubsub.subscribe("other").position
      seen = []
      @pubsub.subscribe("t", after: first.position) { |message, position| seen << [message, position] }
      eventually { seen.size == 3 }
      assert_equal ["5", resumed.position], seen.last
    end
  end
end
