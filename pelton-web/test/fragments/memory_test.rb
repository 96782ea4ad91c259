# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebFragmentsMemoryTest < PeltonTest
  Fragment = Pelton::HTTP::Fragment

  def test_what_was_stored_is_found
    memory = store
    fragment = put(memory, "a", "text")

    assert_same fragment, memory.get("a")
    assert_nil memory.get("b")
    assert_equal({"a" => fragment}, memory.get_multi(%w[b a]))
    assert memory.delete("a")
    refute memory.delete("a")
    assert_equal 0, memory.size
    assert_equal 0, memory.memory
  end

  def test_the_memory_stays_within_the_limit
    memory = store(100_000)
    random = Random.new(1)
    1000.times do |number|
      put(memory, "key #{number}", random.bytes(random.rand(3000)))
      assert_operator memory.memory, :<=, 100_000
    end

    assert_equal 1000, memory.size + memory.evictions
    assert memory.get("key 999")
    assert_nil memory.get("key 0")
  end

  def test_what_is_used_stays
    memory = store(100_000)
    put(memory, "used", "x" * 1000)
    200.times do |number|
      put(memory, number.to_s, "y" * 1000)
      assert memory.get("used"), number.to_s
    end

    assert_operator memory.evictions, :>, 0
  end

  def test_a_huge_fragment_is_not_kept
    memory = store(100_000)
    put(memory, "a", "small")
    put(memory, "huge", "x" * 20_000)

    assert_nil memory.get("huge")
    assert memory.get("a")
  end

  def test_storing_again_replaces
    memory = store
    put(memory, "a", "x" * 1000)
    before = memory.memory
    put(memory, "a", "x" * 1000)

    assert_equal before, memory.memory
    assert_equal 1, memory.size
    assert_equal 0, memory.evictions
  end

  def test_a_fragment_expires
    memory = store
    put(memory, "gone", "text", 0)
    put(memory, "kept", "text", 100)

    assert_nil memory.get("gone")
    assert memory.get("kept")
    assert_equal %w[kept], memory.get_multi(%w[gone kept]).keys
  end

  def test_a_limit_that_is_none
    [-1, nil, 1.5, "1"].each { |limit| assert_raises(ArgumentError) { store(limit) } }
  end

  private

  def store(limit = 1 << 20) = Pelton::Web::Fragments::Memory.new(limit)

  def put(memory, key, text, ttl = nil) = memory.fetch(key, ttl) { Fragment.new(text) }
end
