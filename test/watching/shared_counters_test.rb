# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class SharedCountersTest < PeltonTest
  def counters(**options) = @counters ||= Pelton::SharedCounters.new(**options)

  def at(seconds, &block) = Pelton::Clock.stub(:now, seconds, &block)

  def test_counting
    assert_equal 1, counters.add("a", ttl: 10)
    assert_equal 2, counters.add("a", ttl: 10)
    assert_equal 1, counters.add("b", ttl: 10)
    assert_equal 5, counters.add("a", 3, ttl: 10)
    assert_equal 2, counters.size
    counters.clear

    assert_equal 0, counters.size
    assert_equal 1, counters.add("a", ttl: 10)
  end

  def test_the_time_begins_with_the_first
    at(100) { counters.add("a", ttl: 10) }

    assert_equal [2, 1, 2], [109.9, 110, 119].map { |now| at(now) { counters.add("a", ttl: 10) } }
  end

  # Many names take no more memory than a few, and what has ended goes first, then what is low.
  def test_there_is_a_limit
    counters(most: 16)
    at(0) { 10.times { |number| counters.add("old #{number}", ttl: 1) } }
    at(5) { counters.add("high", 20, ttl: 100) }
    at(5) { 1000.times { |number| counters.add("new #{number}", ttl: 100) } }

    assert_equal 16, at(6) { counters.size }
    assert_equal 2, at(6) { counters.add("new 999", ttl: 100) }
    assert_equal 1, at(6) { counters.add("new 0", ttl: 100) }
    assert_equal 21, at(6) { counters.add("high", ttl: 100) }
  end

  def test_threads_count_together
    counters # otherwise each thread may make its own
    Array.new(4) { Thread.new { 500.times { counters.add("a", ttl: 100) } } }.each(&:join)

    assert_equal 2001, counters.add("a", ttl: 100)
  end

  def test_processes_count_together
    counters
    4.times { fork { exit!(500.times { counters.add("a", ttl: 100) } == 500) } }
    Process.waitall

    assert_equal 2001, counters.add("a", ttl: 100)
  end

  def test_the_default_is_one
    assert_same Pelton::SharedCounters.default, Pelton::SharedCounters.default
  end

  def test_what_is_refused
    assert_raises(ArgumentError) { Pelton::SharedCounters.new(most: 0) }
    assert_equal 1, Pelton::SharedCounters.new(most: 1).add("a", ttl: 10)
    assert_raises(ArgumentError) { counters.add("a", -1, ttl: 1) }
    assert_raises(ArgumentError) { counters.add("a", ttl: -1) }
    assert_raises(TypeError) { counters.add(:a, ttl: 1) }
    assert_raises(TypeError) { Pelton::SharedCounters.allocate.add("a", ttl: 1) }
    assert_raises(FrozenError) { counters.send(:initialize) }
  end

  def test_numbers_stop_at_the_highest
    assert_equal [0xffffff] * 2, [counters.add("a", 1 << 40, ttl: Float::INFINITY), counters.add("a", ttl: 1)]
  end
end
