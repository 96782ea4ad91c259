# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub"
require "pelton/pubsub/carrier"
require_relative "../support/captured_log"

# The rules that all carriers have, on a log in memory. Those on real servers are tested in test/integration/pubsub/.
class PubSubCarrierTest < PeltonTest
  include CapturedLog

  PubSub = Pelton::PubSub

  # A server: its log, and a connection that can be cut.
  class Memory
    Cut = Class.new(StandardError)

    attr_accessor :entries, :epoch, :sent, :cut

    def initialize
      @entries = []
      @epoch = "a"
      @sent = []
    end

    def add(id, text, offset: 0, rule: nil) = @entries << [id, @epoch, offset, PubSub::Wire.body("t", text, rule)]
  end

  class MemoryCarrier < PubSub::Carrier
    NAME = "Memory"

    def self.errors = [Memory::Cut]

    private

    def open = Struct.new(:close).new

    def send_batch(_, sequence, batch)
      @url.sent << [sequence, batch.map { |_, body| PubSub::Wire.published(body).text }]
      raise Memory::Cut, "cut" if @url.cut
    end

    def start(_)
      @url.cut = false
      [@url.epoch, @url.entries.first&.first]
    end

    def read(_, last, wait)
      found = @url.entries.select { |id, *| id > (last || 0) }
      return found if found.any? || !wait
      sleep 0.001
      raise Memory::Cut, "cut" if @url.cut
      []
    end
  end

  def setup
    super
    @memory = Memory.new
    @pubsub = PubSub.new
  end

  def test_what_the_log_has_at_the_start_is_for_the_history_alone
    rule = PubSub::History::Rule.new(10, 100)
    @memory.add(1, "plain")
    @memory.add(2, "kept", offset: 1, rule: rule)
    @memory.add(3, "more", offset: 2, rule: rule)
    joined do
      subscription = @pubsub.subscribe("t", after: "a:1")
      @memory.add(4, "live")

      assert_equal [false, "more", "live"], [subscription.gap?, *Array.new(2) { subscription.receive(timeout: 5) }]
    end
  end

  # Workers serve after some seconds without the server. Nobody knows which of the messages clients have missed, and
  # which they have seen.
  def test_who_has_subscribed_before_the_log_could_be_read_learns_of_a_gap
    %w[plain kept].each_with_index do |text, index|
      @memory.add(index + 1, text, offset: index, rule: (PubSub::History::Rule.new(10, 100) if index == 1))
    end
    Pelton.run do
      seen = {"t" => [], "quiet" => []}
      seen.each { |topic, list| @pubsub.attach(topic, gap: -> { list << :gap }) { |message| list << message } }
      @pubsub.engine = MemoryCarrier.new(@pubsub, @memory)
      @pubsub.engine.await_ready(timeout: 5)
      @memory.add(3, "live")
      eventually { seen["t"].last == "live" }

      assert_equal({"t" => [:gap, "live"], "quiet" => []}, seen)
    ensure
      @pubsub.engine.close
    end
  end

  def test_after_a_cut_it_reads_on_and_sends_the_batch_again
    joined do
      subscription = subscribed(1, "one")
      @memory.cut = true
      @pubsub.engine.publish("t", "mine", nil)
      @memory.add(2, "two")

      assert_equal "two", subscription.receive(timeout: 5)
      eventually { @memory.sent.size >= 2 && @pubsub.engine.drain(timeout: 0) }
      assert_equal [[1, ["mine"]]], @memory.sent.uniq
      assert_equal 1, @pubsub.stats[:returns]
      refute_match(/missing/, log)
    end
  end

  def test_a_log_that_has_dropped_what_it_has_not_read_is_reported
    joined do
      subscription = subscribed(1, "one")
      @memory.entries.clear
      @memory.cut = true
      @memory.add(9, "nine")

      assert_equal "nine", subscription.receive(timeout: 5)
      eventually { log.include?("messages may be missing") }
      assert_predicate subscription, :gap?
    end
  end

  def test_a_log_without_messages_has_lost_none
    joined do
      @memory.cut = true
      eventually { @pubsub.stats[:returns] == 1 }
      refute_match(/missing/, log)
    end
  end

  def test_a_log_of_another_epoch_is_read_from_its_beginning
    joined do
      subscription = subscribed(7, "seven")
      @memory.entries, @memory.epoch = [], "b"
      @memory.add(1, "one")
      @memory.cut = true

      assert_equal "one", subscription.receive(timeout: 5)
    end
  end

  def test_an_entry_that_is_malformed_is_skipped
    joined do
      subscription = @pubsub.subscribe("t")
      @memory.entries << [1, "a", 0, +"x"]
      @memory.add(2, "two")

      assert_equal "two", subscription.receive(timeout: 5)
      assert_match(/Memory has a message of 1 bytes, which is skipped/, log)
    end
  end

  private

  def joined
    Pelton.run do
      @pubsub.engine = MemoryCarrier.new(@pubsub, @memory)
      @pubsub.engine.await_ready(timeout: 5)
      yield
    ensure
      @pubsub.engine.close
    end
  end

  # A subscription that has got a message.
  def subscribed(id, text)
    @pubsub.subscribe("t").tap do |subscription|
      @memory.add(id, text)
      assert_equal text, subscription.receive(timeout: 5)
    end
  end
end
