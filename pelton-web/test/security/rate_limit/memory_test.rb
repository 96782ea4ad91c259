# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebRateLimitMemoryTest < PeltonTest
  def memory = @memory ||= Pelton::Web::RateLimit::Memory.new(Pelton::SharedCounters.new(most: 8))

  # As Memcached::Client#incr is called.
  def test_counting
    assert_equal 1, memory.incr("a", ttl: 10)
    assert_equal 2, memory.incr("a", 1, initial: 1, ttl: 10, timeout: 1)
    assert_equal 1, memory.incr("b", ttl: 10)
    assert_equal 2, memory.size
    memory.clear

    assert_equal 1, memory.incr("a", ttl: 10)
  end

  # Workers are forked from a process that has them.
  def test_the_default_counts_with_children
    one, other = Array.new(2) { Pelton::Web::RateLimit::Memory.new }
    key = "#{self.class} #{Process.pid}"
    one.incr(key, ttl: 60)
    Process.wait(fork { exit!(other.incr(key, ttl: 60) == 2) })

    assert_predicate $?, :success?
    assert_equal 3, one.incr(key, ttl: 60)
  end
end
