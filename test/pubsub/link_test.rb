# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub/hub"
require_relative "../support/captured_log"

class PubSubLinkTest < PeltonTest
  include CapturedLog

  PubSub = Pelton::PubSub

  def setup
    super
    @hub = PubSub::Hub.open
  end

  def teardown
    @hub.close
    super
  end

  # The two stand for two processes.
  def test_what_one_publishes_all_get_in_one_order
    joined do |one, two|
      seen = [one, two].map { |pubsub| [].tap { |list| pubsub.subscribe("t") { |message| list << message } } }
      100.times { |number| [one, two][number % 2].publish("t", number.to_s) }
      Thread.new { 100.times { |number| one.publish("t", "thread #{number}") } }.join
      eventually { seen.all? { |list| list.size == 200 } }

      assert_equal seen.first, seen.last
      assert_equal Array.new(100) { |number| "thread #{number}" }, seen.last.grep(/thread/)
      [0, 1].each do |parity|
        assert_equal (0..99).select { |number| number % 2 == parity }.map(&:to_s),
          seen.first.grep(/\A\d+\z/).select { |text| text.to_i % 2 == parity }
      end
    end
  end

  def test_positions_hold_in_all_processes
    joined do |one, two|
      one.keep("t")
      first = two.subscribe("t")
      one.publish("t", "ä")
      one.publish("t", "\xff".b)
      assert_equal "ä", first.receive
      third = PubSub.new
      third.join(@hub.path)
      resumed = third.subscribe("t", after: first.position)

      assert_equal false, resumed.gap?
      assert_equal "\xff".b, resumed.receive
      assert_equal Encoding::BINARY, first.receive.encoding
      assert_equal first.position, resumed.position
    end
  end

  # As after a link was cut because its process did not read: what is kept comes late, but comes.
  def test_it_comes_back_and_gets_what_was_kept_meanwhile
    joined do |one, two|
      one.keep("t")
      subscription = two.subscribe("t")
      one.publish("t", "before")
      assert_equal "before", subscription.receive
      two.engine.instance_variable_get(:@stream).abort
      5.times { |number| one.publish("t", number.to_s) }
      two.publish("t", "its own")

      assert_equal %w[0 1 2 3 4] + ["its own"], Array.new(6) { subscription.receive }.sort
      assert_equal 1, two.stats[:returns]
      assert_match(/link to the other processes is cut/, log)
    end
  end

  # A page is rendered by one process, and subscribes in another.
  def test_the_position_of_a_topic_without_messages_holds_in_all_processes
    joined do |one, two|
      [one, two].each { |pubsub| pubsub.keep("t") }
      empty = one.position("t")
      seen = two.subscribe("t")
      one.publish("t", "a")
      assert_equal "a", seen.receive(timeout: 5)
      late = two.subscribe("t", after: empty)

      assert_equal false, late.gap?
      assert_equal "a", late.receive(timeout: 5)
    end
  end

  def test_what_is_missed_meanwhile_is_a_gap
    joined do |one, two|
      two.keep("kept")
      kept, plain = %w[kept plain].map { |topic| one.subscribe(topic) }
      cut = lambda do |topic|
        stream = one.engine.instance_variable_get(:@stream)
        stream.abort
        two.publish(topic, "meanwhile")
        eventually { one.engine.instance_variable_get(:@stream)&.then { |now| !now.equal?(stream) } }
      end
      2.times { |number| two.publish("kept", number.to_s) }
      assert_equal %w[0 1], Array.new(2) { kept.receive(timeout: 5) }
      cut.call("kept")
      assert_equal "meanwhile", kept.receive(timeout: 5)
      assert_equal false, kept.gap?
      assert_equal false, plain.gap?
      two.engine.drain(timeout: 5)
      cut.call("plain")
      assert_equal true, plain.gap?
      assert_equal 2, one.stats[:returns]
    end
  end

  def test_without_a_hub_a_bounded_number_of_messages_waits
    joined(limit: 10_000) do |one, two|
      subscription = one.subscribe("t") # the other one may come back later, and what nobody keeps is not for it
      path = @hub.path
      @hub.close
      eventually { one.engine.instance_variable_get(:@stream).nil? && two.engine.instance_variable_get(:@stream).nil? }
      error = assert_raises(Pelton::OverloadError) { 1000.times { |number| one.publish("t", "#{number}#{"x" * 100}") } }
      assert_match(/wait for the master/, error.message)
      refute one.engine.drain(timeout: 0.01)
      Dir.mkdir(File.dirname(path))
      @hub = PubSub::Hub.new(path, folder: File.dirname(path))

      80.times do |number|
        assert_match(/\A#{number}x/, subscription.receive) if number < 50 || subscription.size.positive?
      end
    end
  end

  def test_a_hub_that_is_not_there
    Pelton.run do
      pubsub = PubSub.new
      link = PubSub::Link.new(pubsub, "/nowhere/pubsub")
      assert_raises(Pelton::TimeoutError) { link.await_ready(timeout: 0.01) }
      assert link.drain(timeout: 0)
      link.close
    end
    assert_match(%r{/nowhere/pubsub}, log)
  end

  private

  def joined(**options)
    Pelton.run do
      pubsubs = Array.new(2) { PubSub.new.tap { |pubsub| pubsub.join(@hub.path, **options) } }
      yield(*pubsubs)
    ensure
      Pelton.stop
    end
  end
end
