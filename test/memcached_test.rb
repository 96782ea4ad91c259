# frozen_string_literal: true

require_relative "test_helper"
require "pelton/memcached"

class MemcachedTest < PeltonTest
  # The same lines inside a reactor and outside.
  def test_one_client_for_all_styles
    server = "127.0.0.1:#{with_memcached}"
    use = lambda do
      cache = Pelton::Memcached::Client.new(server, timeout: 5)
      seen = []
      cache.set("k", "v", ttl: 60)
      seen << cache.get("k")
      cache.get("k") { |value| seen << value }.await
      seen << cache.delete("k") { |deleted| seen << deleted }.await
      seen << cache.later.get("k").await
    end

    assert_equal use.call, Pelton.run(&use)
    assert_equal ["v", "v", true, true, nil], use.call
  end

  def test_blocks_have_begun_when_the_last_operation_was_awaited
    server = "127.0.0.1:#{with_memcached}"
    count = lambda do
      cache = Pelton::Memcached::Client.new(server, timeout: 5)
      good = 0
      last = nil
      20.times { |i| last = cache.set("k#{i}", "v") { |stored| good += 1 if stored } }
      last.await
      good
    end

    assert_equal 20, Pelton.run(&count)
    assert_equal 20, count.call
  end

  def test_every_error_is_a_pelton_error
    errors = Pelton::Memcached.constants.map { |name| Pelton::Memcached.const_get(name) }.grep(Class).select do |one|
      one <= Exception
    end

    refute_empty errors
    assert errors.all? { |error| error < Pelton::Error }
  end
end
