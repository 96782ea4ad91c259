# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub"

class PubSubHistoryTest < PeltonTest
  History = Pelton::PubSub::History
  TEN = History::Rule.new(10, 60)

  def setup
    @history = History.new(bytes: 100_000, epoch: "e")
  end

  def test_numbers_and_what_comes_after_them
    assert_equal %w[e:1 e:2 e:3], %w[a b c].map { |message| @history.append("t", message, TEN) }
    assert_equal "e:1", @history.append("other", "x", TEN)

    assert_equal [[["b", "e:2"], ["c", "e:3"]], true], @history.since("t", "e:1")
    assert_equal [[%w[a e:1], %w[b e:2], %w[c e:3]], true], @history.since("t", "e:0")
    assert_equal [[], true], @history.since("t", "e:3")
    assert_equal "e:3", @history.last("t")
  end

  def test_what_is_unknown_is_said_to_be_missing
    @history.append("t", "a", TEN)
    ["e:4", "f:1", "e", "e:x", "e:-1", "", "e:#{"9" * 30}"].each do |position|
      assert_equal [[], false], @history.since("t", position), position
    end
    assert_equal [[], false], @history.since("nothing", "e:0")
  end

  def test_what_was_dropped_for_want_of_room_is_missing
    @history.append("quiet", "x", TEN)
    assert_equal [[], true], @history.recent("nothing", 60)
    @history.append("loud", "x" * 99_900, TEN)

    assert_equal [[], false], @history.recent("quiet", 60)
  end

  def test_a_moment
    epoch, seconds = History.age(History.moment("e"))

    assert_equal "e", epoch
    assert_in_delta 0, seconds, 5
    [nil, "e:1", "e:@x", "@1"].each { |position| assert_nil History.age(position) }
  end

  def test_what_came_in_the_last_seconds
    assert_equal [[], true], @history.recent("a", 60)
    2.times { |number| @history.append("a", number.to_s, TEN) }

    assert_equal [["0", "1"], true],
      @history.recent("a", TEN.seconds - 1).then { |entries, complete| [entries.map(&:first), complete] }
    assert_equal [[], true], @history.recent("a", -1)
    refute @history.recent("a", TEN.seconds + 1).last, "older ones may be forgotten"
    (TEN.messages - 1).times { @history.append("a", "x", TEN) }

    refute @history.recent("a", TEN.seconds - 1).last, "the first was forgotten"
  end

  def test_a_topic_keeps_so_many
    15.times { |number| @history.append("t", number.to_s, TEN) }

    assert_equal 10, @history.size
    assert_equal [[], false], @history.since("t", "e:4")
    assert_equal [10, true], @history.since("t", "e:5").then { |messages, complete| [messages.size, complete] }
  end

  def test_a_message_is_kept_for_so_long
    @history.append("t", "a", History::Rule.new(10, 0.001))
    eventually { @history.since("t", "e:0") == [[], false] }

    assert_equal [[], true], @history.since("t", "e:1")
    assert_equal "e:2", @history.append("t", "b", TEN)
  end

  def test_all_topics_together_have_a_bound
    100.times { |number| @history.append("t#{number}", "x" * 5000, TEN) }

    assert_operator @history.bytes, :<=, 100_000
    assert_equal [[], false], @history.since("t0", "e:0")
    100.times { @history.append("t99", "x" * 50_000, TEN) }
    assert_equal 1, @history.size
  end

  # Somebody who had seen the topic's second message would take the new second one for it.
  def test_a_forgotten_topic_goes_on_behind_its_numbers
    2.times { @history.append("t", "x" * 40_000, TEN) }
    4.times { @history.append("other", "x" * 40_000, TEN) }

    assert_nil @history.last("t")
    assert_equal "e:3", @history.append("t", "new", TEN)
  end

  def test_messages_that_are_older
    [20, 10, 1].each_with_index { |age, index| @history.insert("t", age.to_s, "h:#{index + 1}", TEN, age: age) }

    assert_equal [["1"], true], @history.recent("t", 5).then { |messages, complete| [messages.map(&:first), complete] }
    ages = []
    @history.each { |*, age| ages << age.round }
    assert_equal [20, 10, 1], ages
  end

  def test_messages_with_numbers_of_another
    %w[h:4 h:5 h:5 h:4 h:6].each { |position| @history.insert("t", position, position, TEN) }
    assert_equal [[%w[h:5 h:5], %w[h:6 h:6]], true], @history.since("t", "h:4")

    @history.insert("t", "new", "i:1", TEN)
    assert_equal [["t", "new", "i:1", TEN, nil]], @history.to_enum.map { |*facts| facts.first(5) }
    assert_equal [[], false], @history.since("t", "h:6")
  end
end
