# frozen_string_literal: true

# Several real servers, each behind a proxy that can cut it off, in every style.
module MemcachedServers
  def setup
    super
    @ports = Array.new(3) { |i| with_memcached("memcached #{i}") } # outside of any reactor
    @proxies = @ports.map { |port| FaultProxy.start(port) }
  end

  def teardown
    @proxies.each(&:stop)
    super
  end

  def test_each_server_gets_the_keys_of_its_part_of_the_ring
    within do
      cache, keys = several, Array.new(60) { |i| "key-#{i}" }
      keys.each { |key| ask(cache, :set, key, key) }
      ring = Pelton::Memcached::HashRing.new(cache.servers)

      assert_equal (0..2).map { |place| keys.select { |key| ring.index(key) == place } },
        @ports.map { |port| ask(client("127.0.0.1:#{port}"), :get_multi, keys).keys }
      assert_equal keys, keys.map { |key| ask(cache, :get, key) }
    end
  end

  PAIRS = (0...100).to_h { |i| ["key-#{i}", "value #{i}"] }.freeze

  def test_the_namespace_takes_part_in_choosing_the_server
    within do
      ask(several(namespace: "ns:"), :set, "k", "v")

      assert_equal "v", ask(several, :get, "ns:k")
    end
  end

  def test_many_keys_on_all_servers
    within do
      cache = several

      assert_equal 100, ask(cache, :set_multi, PAIRS)
      assert_equal PAIRS, ask(cache, :get_multi, *PAIRS.keys, "absent")
      assert_equal 99, ask(cache, :delete_multi, PAIRS.keys - ["key-7"])
      assert_equal({"key-7" => "value 7"}, ask(cache, :get_multi, PAIRS.keys))
    end
  end

  def test_server_commands_go_to_all_servers
    within do
      cache = several
      ask(cache, :set_multi, (0...30).to_h { |i| ["key-#{i}", "v"] })

      assert_equal cache.servers.map(&:to_s).sort, ask(cache, :versions).keys.sort
      assert_equal cache.servers.map(&:to_s).sort, ask(cache, :stats).keys.sort
      assert_match(/\A\d/, ask(cache, :version))
      assert_equal true, ask(cache, :flush_all)
      assert_equal({}, ask(cache, :get_multi, (0...30).map { |i| "key-#{i}" }))
    end
  end

  def test_without_failover_a_server_that_is_down_fails_its_own_keys_alone
    within do
      cache = several(failover: false, retry_after: 60)
      mine, other = keys_of(cache, 1), keys_of(cache, 0)
      take_away(1)
      errors = Array.new(5) { assert_raises(Pelton::ConnectionError) { ask(cache, :set, mine, "v") } }

      assert_kind_of Pelton::Memcached::DownError, errors.last
      assert_predicate errors.last, :retriable?
      assert_match(/refused/, errors.last.message)
      assert_kind_of Pelton::ConnectionError, errors.last.cause
      assert_equal true, ask(cache, :set, other, "v")
      assert_equal "v", ask(cache, :get, other)
    end
  end

  def test_without_failover_a_server_is_retried
    within do
      cache = several(failover: false, retry_after: 0.02)
      key = keys_of(cache, 1)
      take_away(1)
      5.times { assert_raises(Pelton::ConnectionError) { ask(cache, :set, key, "v") } }
      @proxies[1].up!

      eventually("the server's return") { !raises?(Pelton::ConnectionError) { ask(cache, :set, key, "v") } }
      assert_equal "v", ask(cache, :get, key)
    end
  end

  def test_with_failover_the_keys_move_to_the_others_until_the_server_is_back
    within do
      cache = several(retry_after: 0.02)
      key = keys_of(cache, 1)
      ask(cache, :set, key, "first")
      take_away(1)
      failures = Array.new(10) { raises?(Pelton::ConnectionError) { ask(cache, :set, key, "second") } }

      assert_operator failures.count(true), :<=, 4, "it was not given up"
      assert_equal [false] * 6, failures.last(6)
      assert_equal "second", ask(cache, :get, key)
      @proxies[1].up!
      eventually("the server's return") { ask(cache, :get, key) == "first" }
      assert_equal ["first"], @ports.filter_map { |port| ask(client("127.0.0.1:#{port}"), :get, key) } - ["second"]
    end
  end

  def test_many_keys_of_servers_of_which_one_is_down
    within do
      cache = several(failover: false)
      pairs = (0...60).to_h { |i| ["key-#{i}", "value #{i}"] }
      ring = Pelton::Memcached::HashRing.new(cache.servers)
      ask(cache, :set_multi, pairs)
      take_away(1)
      others = pairs.reject { |key, _| ring.index(key) == 1 }

      4.times { assert_equal others, ask(cache, :get_multi, pairs.keys, partial: true) }
      assert_raises(Pelton::ConnectionError) { ask(cache, :get_multi, pairs.keys) }
      assert_equal({}, ask(cache, :get_multi, pairs.keys - others.keys, partial: true))
    end
  end

  def test_server_commands_fail_when_one_server_is_down
    within do
      cache = several
      key = keys_of(cache, 1)
      take_away(1)
      10.times { raises?(Pelton::ConnectionError) { ask(cache, :set, key, "v") } }

      assert_equal "v", ask(cache, :get, key)
      assert_raises(Pelton::ConnectionError) { ask(cache, :flush_all) }
      assert_raises(Pelton::ConnectionError) { ask(cache, :stats) }
    end
  end

  def test_many_keys_while_a_server_goes
    within do
      cache = several
      ring = Pelton::Memcached::HashRing.new(cache.servers)
      ask(cache, :get, "k")
      take_away(1)

      assert_raises(Pelton::ConnectionError) { ask(cache, :set_multi, PAIRS) }
      others = PAIRS.reject { |key, _| ring.index(key) == 1 }
      assert_equal others, ask(cache, :get_multi, others.keys)
      eventually("failover") { !raises?(Pelton::ConnectionError) { ask(cache, :set_multi, PAIRS) } }
      assert_equal PAIRS, ask(cache, :get_multi, PAIRS.keys)
    end
  end

  def test_all_servers_down
    within do
      cache = several(retry_after: 0.02)
      3.times { |place| take_away(place) }
      errors = Array.new(20) { |i| assert_raises(Pelton::ConnectionError) { ask(cache, :get, "key-#{i}") } }

      assert_includes errors.map(&:class), Pelton::Memcached::DownError
      assert_raises(Pelton::ConnectionError) { ask(cache, :get_multi, "a", "b", "c") }
      @proxies.each(&:up!)
      eventually("the servers' return") do
        !raises?(Pelton::ConnectionError) { 10.times { |i| ask(cache, :set, "key-#{i}", "v") } }
      end
    end
  end

  def test_a_silent_server_delays_only_its_own_callers_until_their_deadline
    within do
      cache = several(failover: false)
      mine, other = keys_of(cache, 1), keys_of(cache, 0)
      ask(cache, :set_multi, {mine => "v", other => "v"})
      @proxies[1].stall!

      assert_raises(Pelton::TimeoutError) { ask(cache, :get, mine, timeout: 0.05) }
      assert_equal "v", ask(cache, :get, other)
      assert_raises(Pelton::TimeoutError) { ask(cache, :get_multi, mine, other, timeout: 0.05) }
      assert_equal "v", ask(cache, :get, other)
    end
  end

  private

  def several(**options) = client(@proxies.map { |proxy| "127.0.0.1:#{proxy.port}" }, **options)

  # A key that belongs to the server of this index.
  def keys_of(cache, place)
    ring = Pelton::Memcached::HashRing.new(cache.servers)
    (0..).lazy.map { |i| "key-#{i}" }.find { |key| ring.index(key) == place }
  end

  def take_away(place)
    @proxies[place].down!
    @proxies[place].cut!
  end

  def raises?(error)
    yield
    false
  rescue error
    true
  end
end
