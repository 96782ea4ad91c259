# frozen_string_literal: true

require "json"
require_relative "../test_helper"
require_relative "../shared/memcached_styles"

# Client#cas. Its block is the change, not a callback, so it has direct style and `later` alone.
class MemcachedUpdateTest < PeltonTest
  include MemcachedStyles::Common

  def test_the_block_maps_the_old_value_to_the_new
    cache = client
    cache.set("k", "1")

    assert_equal true, cache.cas("k") { |old| old + "2" }
    assert_equal "12", cache.get("k")
  end

  def test_an_absent_key_yields_nil_and_is_added
    cache = client

    assert_equal true, cache.cas("k", ttl: 100) { |old| old.inspect }
    assert_equal "nil", cache.get("k")
    assert_includes 90..100, cache.item("k").ttl
  end

  def test_nil_changes_nothing
    cache = client
    cache.set("k", "v")

    assert_nil cache.cas("k") {}
    assert_equal "v", cache.get("k")
  end

  def test_a_concurrent_store_is_not_lost
    cache = client
    olds = []
    cache.set("k", "0")
    stored = cache.cas("k") do |old|
      olds << old
      cache.set("k", "theirs") if olds.size == 1
      "#{old} and mine"
    end

    assert_equal true, stored
    assert_equal %w[0 theirs], olds
    assert_equal "theirs and mine", cache.get("k")
  end

  def test_a_concurrent_add_or_delete_is_not_lost
    cache = client
    olds = []
    stored = cache.cas("k") do |old|
      olds << old
      cache.set("k", "theirs") if olds.size == 1
      cache.delete("k") if olds.size == 2
      "mine"
    end

    assert_equal true, stored
    assert_equal [nil, "theirs", nil], olds
    assert_equal "mine", cache.get("k")
  end

  def test_cas_gives_up_after_the_given_attempts
    cache = client
    calls = 0
    stored = cache.cas("k", attempts: 3) do
      cache.set("k", "theirs #{calls += 1}")
      "mine"
    end

    assert_equal false, stored
    assert_equal 3, calls
    assert_equal "theirs 3", cache.get("k")
  end

  def test_no_change_of_many_fibers_is_lost
    cache = client(serializer: JSON)
    Pelton.run do
      Array.new(20) { Pelton.spawn { cache.cas("k", attempts: 1000) { |old| (old || 0) + 1 } } }.each(&:await)

      assert_equal 20, cache.get("k")
    end
  end

  def test_an_exception_in_the_block_is_raised_and_nothing_is_stored
    cache = client

    assert_raises(IndexError) { cache.cas("k") { raise IndexError } }
    assert_nil cache.get("k")
    assert_raises(ArgumentError) { cache.cas("k") }
  end
end
