# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRateLimitMemoryTest < PeltonTest
  def memory(**options) = Pelton::Web::RateLimit::Memory.new(**options)

  def at(seconds, &block) = Pelton::Clock.stub(:now, seconds, &block)

  def test_counting
    memory = self.memory

    assert_equal [1, 2, 1, 3], [memory.incr("a", ttl: 10), memory.incr("a", ttl: 10), memory.incr("b", ttl: 10), memory.incr("a", 1, initial: 1, ttl: 10, timeout: 1)]
    memory.clear

    assert_equal 1, memory.incr("a", ttl: 10)
  end

  def test_the_time_begins_with_the_first
    memory = self.memory
    at(100) { memory.incr("a", ttl: 10) }

    assert_equal [2, 1, 2], [109.9, 110, 119].map { |now| at(now) { memory.incr("a", ttl: 10) } }
  end

  # Many clients take no more memory than the limit, and what has ended goes first.
  def test_there_is_a_limit
    memory = self.memory(most: 20)
    at(0) { 10.times { |number| memory.incr("old #{number}", ttl: 1) } }
    at(5) { 1000.times { |number| memory.incr("new #{number}", ttl: 100) } }

    assert_operator memory.size, :<=, 20
    assert_equal 2, at(6) { memory.incr("new 999", ttl: 100) }
    assert_equal 1, at(6) { memory.incr("new 0", ttl: 100) }
  end

  def test_threads_count_together
    memory = self.memory
    Array.new(4) { Thread.new { 500.times { memory.incr("a", ttl: 100) } } }.each(&:join)

    assert_equal 2001, memory.incr("a", ttl: 100)
  end
end
