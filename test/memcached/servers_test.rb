# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_servers"
require_relative "../shared/memcached_styles"
require_relative "../support/fault_proxy"
require_relative "../support/lying_memcached"

# Each style against several servers that come and go. (The keys of MemcachedStyles::Concurrent would fail.)
PeltonTest.in_styles("MemcachedServers", MemcachedStyles::ALL - [MemcachedStyles::Concurrent], MemcachedServers)

class MemcachedServersTest < PeltonTest
  include LyingMemcached

  def test_a_server_is_listed_once
    assert_raises(ArgumentError) { Pelton::Memcached::Client.new(%w[a:1 a:1:2]) }
    assert_raises(ArgumentError) { Pelton::Memcached::Client.new([]) }
  end

  def test_addresses
    client = Pelton::Memcached::Client.new(["a", "/run/b:2"])

    assert_equal %w[a:11211 /run/b], client.servers.map(&:to_s)
    assert_equal "a", client.server.host
    assert_match(%r{a:11211 /run/b}, client.inspect)
  end

  # The second one behind a proxy.
  def with_two_servers
    first, second = with_memcached("memcached 0"), with_memcached("memcached 1")
    FaultProxy.start(second) { |proxy| yield ["127.0.0.1:#{first}", "127.0.0.1:#{proxy.port}"], proxy, second }
  end

  def key_of(ring, place) = (0..).lazy.map { |i| "key-#{i}" }.find { |key| ring.index(key) == place }

  # Where no reactor runs beside the caller, a recheck of a silent server must not delay the caller.
  def test_no_caller_waits_for_a_recheck
    with_two_servers do |servers, proxy|
      cache = Pelton::Memcached::Client.new(servers, timeout: 1000, failure_limit: 1, retry_after: 0.001)
      proxy.down!
      keys = Array.new(50) { |i| "key-#{i}" }
      keys.each do |key|
        cache.set(key, "v")
      rescue Pelton::ConnectionError
        nil
      end
      proxy.stall!
      proxy.up!
      eventually("the question") { !cache.get("absent") && proxy.accepted > 0 }

      assert_equal 50, cache.set_multi(keys.to_h { |key| [key, "w"] })
      assert_equal ["w"] * 50, keys.map { |key| cache.get(key) }
    end
  end

  # The thread that rechecks exists in the parent only.
  def test_a_child_rechecks_servers_by_itself
    with_two_servers do |servers, proxy, second|
      ring = Pelton::Memcached::HashRing.new(servers)
      key = key_of(ring, 1)
      cache = Pelton::Memcached::Client.new(servers, timeout: 1000, failure_limit: 1, retry_after: 0.001)
      proxy.down!
      assert_raises(Pelton::ConnectionError) { cache.set(key, "v") }
      proxy.stall!
      proxy.up!
      eventually("the question") { !cache.get(key) && proxy.accepted > 0 }
      pid = fork { exit!(10_000.times.any? { cache.get(key) == "back" || (sleep(0.001) && false) }) }
      sleep 0.01
      Pelton::Memcached::Client.new("127.0.0.1:#{second}").set(key, "back")
      proxy.resume

      assert_predicate Process.wait2(pid).last, :success?
    end
  end

  # It is asked again, and stays down.
  def test_the_keys_of_a_server_without_meta_commands_go_to_the_others
    lines = Thread::Queue.new
    with_lying_memcached(->(peer) { peer.know_no_meta_commands { |line| lines << line if line } }) do |old|
      servers = ["127.0.0.1:#{with_memcached}", old]
      cache = Pelton::Memcached::Client.new(servers, timeout: 10, failure_limit: 2, retry_after: 0.001)
      key = key_of(Pelton::Memcached::HashRing.new(servers), 1)
      2.times { assert_raises(Pelton::ProtocolError) { cache.set(key, "flush_all") } }

      assert_equal true, cache.set(key, "v")
      eventually("three more questions") { cache.get(key) == "v" && lines.size >= 10 }
      assert_equal ["mn\r\n", "version\r\n"], Array.new(lines.size) { lines.pop }.uniq
      assert_equal "v", Pelton::Memcached::Client.new(servers.first).get(key)
      cache.close
    end
  end

  # While callers wait for one server, the other server's callers get their replies.
  def test_a_frozen_server_does_not_delay_other_servers
    with_two_servers do |servers, proxy|
      cache = Pelton::Memcached::Client.new(servers, timeout: 30, failover: false)
      ring = Pelton::Memcached::HashRing.new(servers)
      fast, slow = [0, 1].map { |place| key_of(ring, place) }
      order = []
      Pelton.run do
        cache.set_multi({fast => "f", slow => "s"})
        proxy.stall!
        waiting = Pelton.spawn { order << cache.get(slow) }
        50.times { order << cache.get(fast) }
        proxy.resume
        waiting.await
      end

      assert_equal ["f"] * 50 + ["s"], order
    end
  end
end
