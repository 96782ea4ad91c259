# frozen_string_literal: true

require_relative "../support/captured_log"
require_relative "../support/database_process"
require_relative "../support/fault_proxy"
require "pelton/pubsub"

# Topics over a real server, which is cut off, freezes, and loses what it had. Each test has several PubSubs, which
# stand for the processes of several machines. The including test says `url(port = nil)`, `forget_everything` and
# `own_process`.
module PubSubCarriers
  include CapturedLog
  include Databases

  PubSub = Pelton::PubSub

  def test_all_get_everything_in_one_order_with_positions_that_hold_everywhere
    joined(3) do |one, two, three|
      one.keep("kept")
      seen = [one, two, three].map { |pubsub| [].tap { |list| pubsub.subscribe("t") { |message| list << message } } }
      60.times { |number| [one, two][number % 2].publish("t", number.to_s) }
      eventually { seen.all? { |list| list.size == 60 } }
      assert_equal [seen.first] * 2, seen.drop(1)

      first = two.subscribe("kept")
      one.publish("kept", "ä")
      one.publish("kept", "\xff\0".b)
      assert_equal "ä", first.receive(timeout: 10)
      fourth = join
      resumed = fourth.subscribe("kept", after: first.position)

      assert_equal false, resumed.gap?
      assert_equal "\xff\0".b, resumed.receive(timeout: 10)
      assert_equal Encoding::BINARY, first.receive(timeout: 10).encoding
      assert_equal first.position, resumed.position
    end
  end

  def test_messages_of_more_than_a_packet_and_topics_of_any_bytes_arrive
    joined(2) do |one, two|
      topic = "a\0\xFF'\\\"{}"
      subscription = two.subscribe(topic, max_bytes: 8 << 20)
      messages = ["x" * 2_000_000, "", "'\\x\"{}", "\0".b * 9_000]
      one.keep(topic)
      messages.each { |message| one.publish(topic, message) }

      assert_equal messages, messages.map { subscription.receive(timeout: 20) }
    end
  end

  def test_what_is_published_while_the_server_is_away_arrives_once_and_in_order
    behind_proxy do |proxy, one, two|
      one.keep("t", messages: 1000)
      seen = []
      two.subscribe("t") { |message| seen << message }
      200.times do |number|
        one.publish("t", number.to_s)
        proxy.cut! if number % 40 == 20
        proxy.down! if number == 100
        sleep 0.002
      end
      proxy.up!
      eventually { seen.size >= 200 }

      assert_equal Array.new(200, &:to_s), seen
      assert_operator two.stats[:returns], :>, 0
      assert_match(/pubsub: (Redis|PostgreSQL) does not answer/, log)
    end
  end

  # The log's first message is the last one that it had.
  def test_who_comes_back_to_the_only_message_has_missed_nothing
    behind_proxy do |proxy, one, two|
      subscription = two.subscribe("t")
      one.publish("t", "only")
      assert_equal "only", subscription.receive(timeout: 10)
      proxy.cut!
      eventually { two.stats[:returns] > 0 }

      assert_equal false, subscription.gap?
      refute_match(/may be missing/, log)
    end
  end

  def test_a_frozen_server_is_left_and_publishers_are_bounded
    behind_proxy(limit: 10_000) do |proxy, one, two|
      subscription = two.subscribe("t")
      one.publish("t", "before")
      assert_equal "before", subscription.receive(timeout: 10)
      proxy.stall!
      error = assert_raises(Pelton::OverloadError) { 200.times { one.publish("t", "x" * 100) } }
      refute one.engine.drain(timeout: 0.01)
      proxy.resume

      assert_match(/wait for (Redis|PostgreSQL), which does not take them/, error.message)
      assert_equal "x" * 100, subscription.receive(timeout: 20)
      assert one.engine.drain(timeout: 20)
    end
  end

  def test_a_server_that_has_lost_everything_begins_anew_and_says_so
    joined(2) do |one, two|
      one.keep("t")
      subscription = two.subscribe("t")
      one.publish("t", "before")
      assert_equal "before", subscription.receive(timeout: 10)
      position = subscription.position
      forget_everything
      one.publish("t", "after")

      assert_equal "after", subscription.receive(timeout: 10)
      refute_equal position.split(":").first, subscription.position.split(":").first
      assert_predicate two.subscribe("t", after: position), :gap?
    end
  end

  # As by SIGSTOP, or a machine that swaps: the kernel takes connections, and nobody answers.
  def test_a_process_that_is_frozen_and_then_killed
    server = own_process
    Pelton.run do
      @port = server.port
      one, two = Array.new(2) { join(timeout: 0.3) }
      seen = []
      two.subscribe("t") { |message| seen << message }
      one.publish("t", "before")
      eventually { seen == %w[before] }
      server.freeze!
      3.times { |number| one.publish("t", "frozen #{number}") }
      eventually { log.include?("does not answer") }
      server.thaw!
      # What has no answer yet would be sent again, to a server that knows nothing of it
      assert one.engine.drain(timeout: 20)
      eventually { seen.size == 4 }
      server.die!
      3.times { |number| one.publish("t", "dead #{number}") }
      server.start
      eventually { seen.size >= 7 }

      assert_equal ["before", *%w[frozen dead].flat_map { |state| Array.new(3) { |number| "#{state} #{number}" } }],
        seen
    ensure
      @joined&.each { |pubsub| pubsub.engine.close }
    end
  ensure
    server&.die!
  end

  private

  def joined(count)
    Pelton.run do
      @port = nil
      forget_everything
      yield(*Array.new(count) { join })
    ensure
      @joined&.each { |pubsub| pubsub.engine.close }
    end
  end

  def behind_proxy(**options)
    forget_everything
    FaultProxy.start(Integer(url[/:(\d+)/, 1])) do |proxy|
      Pelton.run do
        @port = proxy.port
        yield proxy, join(**options), join(**options)
      ensure
        proxy.up!
        proxy.resume
        @joined&.each { |pubsub| pubsub.engine.close }
      end
    end
  end

  def join(**options)
    PubSub.new.tap do |pubsub|
      pubsub.join(url(@port), **options)
      (@joined ||= []) << pubsub
    end
  end
end
