# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_behaviours"
require_relative "../shared/memcached_commands"
require_relative "../shared/memcached_styles"
require_relative "../support/fault_proxy"
require_relative "../support/lying_memcached"

# Each style against a real memcached.
PeltonTest.in_styles("MemcachedClient", MemcachedStyles::ALL, MemcachedBehaviours, MemcachedCommands)

# Some styles again with several connections.
PeltonTest.in_styles("MemcachedPooled", [MemcachedStyles::Direct, MemcachedStyles::Blocking, MemcachedStyles::Callback,
  MemcachedStyles::Concurrent], MemcachedStyles::Pooled, MemcachedBehaviours, MemcachedCommands)

class MemcachedPoolTest < PeltonTest
  include LyingMemcached
  include MemcachedStyles::Common

  def test_keys_are_spread_over_the_connections
    FaultProxy.start(with_memcached) do |proxy|
      cache = client("127.0.0.1:#{proxy.port}", connections: 3)
      pairs = (0...50).to_h { |i| ["key-#{i}", i.to_s] }
      Pelton.run { assert_equal 50, cache.set_multi(pairs) }

      assert_equal 3, proxy.accepted
      Pelton.run { assert_equal pairs, cache.get_multi(pairs.keys) }
      assert_equal 3, proxy.accepted
      assert_equal true, cache.flush_all
      assert_equal "0", cache.versions && cache.set("k", "0") && cache.get("k")
      assert_equal 3, proxy.accepted
    end
  end

  def test_the_event_of_a_cancelled_command_ends
    ends = []
    subscription = Pelton::Notifications.subscribe("command.memcached") { |event| ends << event.error.class }
    with_lying_memcached(->(peer) { peer.answer(peer.command, "EN\r\n") && peer.stall }) do |address|
      Pelton.run do
        cache = client(address)
        cache.get("k")
        [-> { cache.get("k") }, -> { cache.get_multi("k") }].each do |call|
          task = Pelton.spawn(&call)
          sleep 0
          task.cancel
        end
        cache.close
      end
    end

    assert_equal [NilClass, Pelton::Cancelled, Pelton::Cancelled], ends
  ensure
    Pelton::Notifications.unsubscribe(subscription)
  end

  # A read sees the client's own earlier writes.
  def test_commands_for_a_key_keep_their_order
    with_memcached
    values = []
    Pelton.run do
      cache = client(connections: 4)
      200.times do |i|
        cache.set("key-#{i % 20}", i.to_s) {}
        cache.get("key-#{i % 20}") { |value| values[i] = value }
      end
    end

    assert_equal Array.new(200, &:to_s), values
  end

  def test_the_number_of_connections_is_checked
    [0, -1, "many", nil].each do |number|
      assert_match(/connections: must be a number of more than 0/,
        assert_raises(ArgumentError) { client("a:1", connections: number) }.message)
    end
    assert_match(/timeout: must be a number of more than 0, not "3"/,
      assert_raises(ArgumentError) { client("a:1", timeout: "3") }.message)
  end

  def test_a_command_that_stores_needs_a_key_and_a_value
    cache = client("127.0.0.1:1")

    assert_raises(ArgumentError) { cache.set("k", ttl: 1) }
    assert_raises(ArgumentError) { cache.set("k", "v", "w") }
  end
end
