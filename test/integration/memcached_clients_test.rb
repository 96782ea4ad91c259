# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/embedded_memcached"
require "dalli"
require "open3"

# Foreign clients use the embedded memcached as their users do.
class MemcachedClientsTest < PeltonTest
  include EmbeddedMemcached

  self.deadline = 60

  def setup
    Dalli.logger.level = Logger::ERROR
  end

  def test_dalli
    with_dalli do |cache|
      everyday_work_of_dalli(cache)
      cache.set("short", "x", -1)

      assert_nil cache.get("short")
    end
  end

  def test_dalli_features_of_the_meta_protocol_alone
    with_dalli do |cache|
      cache.set("key", "value")

      assert_equal "value", cache.get_with_metadata("key")[:value]
      assert_equal "made", cache.fetch_with_lock("absent", ttl: 60) { "made" }
      assert_equal "made", cache.get("absent")
    end
  end

  def test_dalli_keys_of_any_bytes
    with_dalli do |cache|
      ["with space", "Straße", "new\r\nline", "long" * 100].each do |key|
        cache.set(key, key.length)

        assert_equal key.length, cache.get(key), key
      end
      assert_equal 2, cache.get_multi("with space", "Straße").size
    end
  end

  PYMEMCACHE = <<~PYTHON
    import sys
    from pymemcache.client.base import Client, PooledClient
    from pymemcache.client.hash import HashClient
    from pymemcache.exceptions import MemcacheClientError

    address = ("127.0.0.1", int(sys.argv[1]))
    for cache in (Client(address), Client(address, default_noreply=False), PooledClient(address), HashClient([address])):
        cache.flush_all()
        assert cache.set("key", "value")
        assert cache.get("key") == b"value"
        assert cache.get("absent") is None
        assert cache.set("empty", "")
        assert cache.get("empty") == b""
        value = bytes(range(256)) * 3000
        assert cache.set("large", value)
        assert cache.get("large") == value
        assert cache.add("key", "other", noreply=False) is False
        assert cache.add("added", "a", noreply=False) is True
        assert cache.replace("absent", "r", noreply=False) is False
        assert cache.replace("added", "r", noreply=False) is True
        assert cache.append("added", "-end", noreply=False) is True
        assert cache.prepend("added", "begin-", noreply=False) is True
        assert cache.get("added") == b"begin-r-end"
        assert cache.set_many({"a": "1", "b": "2", "c": "3"}, noreply=False) == []
        assert cache.get_many(["a", "b", "absent"]) == {"a": b"1", "b": b"2"}
        value, cas = cache.gets("a")
        assert value == b"1"
        assert cache.cas("a", "changed", cas, noreply=False) is True
        assert cache.cas("a", "again", cas, noreply=False) is False
        assert cache.cas("absent", "x", cas, noreply=False) is None
        assert cache.gets_many(["b", "c"]).keys() == {"b", "c"}
        assert cache.incr("b", 40) == 42
        assert cache.decr("b", 2) == 40
        assert cache.decr("b", 100) == 0
        assert cache.incr("absent", 1) is None
        assert cache.touch("b", 100, noreply=False) is True
        assert cache.touch("absent", 100, noreply=False) is False
        assert cache.delete("b", noreply=False) is True
        assert cache.delete("b", noreply=False) is False
        assert cache.delete_many(["a", "c"], noreply=False)
        cache.set("gone", "x", expire=-1, noreply=False)
        assert cache.get("gone") is None
        try:
            cache.incr("key", 1)
            assert False, "incr of no number"
        except MemcacheClientError:
            pass
        cache.close()

    cache = Client(address)
    assert cache.version().startswith(b"1.6.")
    stats = cache.stats()
    assert stats[b"curr_items"] == 4, stats[b"curr_items"]
    assert stats[b"threads"] == 1 and stats[b"cas_misses"] == 4
    assert cache.stats("settings")[b"item_size_max"] == 1048576
    for name in ("items", "slabs", "sizes"):
        cache.stats(name)
    cache.flush_all(noreply=False)
    assert cache.get("key") is None
    cache.quit()
    print("all is well")
  PYTHON

  def test_pymemcache
    python = %w[/usr/bin/python3 python3].find { |name| system(name, "-c", "import pymemcache", err: File::NULL) }
    skip "python3-pymemcache is not installed" unless python
    with_embedded_memcached do |port|
      output, status = Open3.capture2e(python, "-c", PYMEMCACHE, port.to_s)

      assert_predicate status, :success?, output
      assert_equal "all is well\n", output
    end
  end

  MEMCACHED_GEM = <<~'RUBY'
    require "memcached"
    def check(expected, actual)
      expected == actual || abort("#{caller(1, 1).first}: #{actual.inspect}, not #{expected.inspect}")
    end
    def refuse(error)
      yield
      abort "#{caller(1, 1).first}: no #{error}"
    rescue error
      nil
    end

    [{}, {noreply: true, buffer_requests: true}, {cache_lookups: true}].each do |options|
      cache = Memcached.new("127.0.0.1:#{ARGV.first}", timeout: 10, **options)
      cache.flush
      cache.set("key", {"a" => [1, 2]})
      check({"a" => [1, 2]}, cache.get("key"))
      refuse(Memcached::NotFound) { cache.get("absent") }
      cache.set("large", "x" * 900_000, 100, false)
      check("x" * 900_000, cache.get("large", false))
      cache.set("number", "5", 0, false)
      next if options[:noreply]
      check(7, cache.increment("number", 2))
      check(6, cache.decrement("number", 1))
      refuse(Memcached::NotStored) { cache.add("key", "x") }
      cache.add("added", "b", 0, false)
      cache.append("added", "c")
      cache.prepend("added", "a")
      check("abc", cache.get("added", false))
      cache.replace("added", "r", 0, false)
      check({"added" => "r", "number" => "6"}, cache.get(%w[added number absent], false))
      cache.delete("added")
      refuse(Memcached::NotFound) { cache.delete("added") }
      check(1, cache.stats[:threads].first.to_i)
    end
    cache = Memcached.new("127.0.0.1:#{ARGV.first}", timeout: 10, support_cas: true)
    cache.set("key", "old")
    cache.cas("key") { |old| old + "new" }
    check("oldnew", cache.get("key"))
    refuse(Memcached::ConnectionDataExists) do
      cache.cas("key") do |old|
        Memcached.new("127.0.0.1:#{ARGV.first}", timeout: 10).set("key", "another's")
        old
      end
    end
    puts "all is well"
  RUBY

  # The gem compiles a libmemcached of its own, so it is among the gems that only the lab installs.
  def test_the_memcached_gem
    with_embedded_memcached do |port|
      environment = {"BUNDLE_GEMFILE" => File.join(ROOT, "gemfiles/peers.rb")}
      output, status = Open3.capture2e(environment, RbConfig.ruby, "-rbundler/setup", "-e", MEMCACHED_GEM, port.to_s)
      skip "the memcached gem is not installed: bin/setup lab" if output.match?(/LoadError|Bundler::GemNotFound/)

      assert_predicate status, :success?, output
      assert_equal "all is well\n", output.lines.last
    end
  end

  private

  def with_dalli
    with_embedded_memcached do |port|
      cache = Dalli::Client.new("127.0.0.1:#{port}", socket_timeout: 10, silence_marshal_warning: true, protocol: :meta)
      yield cache
    ensure
      cache&.close
    end
  end

  def everyday_work_of_dalli(cache)
    assert cache.set("key", {"a" => [1, 2]})
    assert_equal({"a" => [1, 2]}, cache.get("key"))
    assert_nil cache.get("absent")
    refute cache.add("key", "other")
    refute cache.replace("absent", "x")
    assert cache.replace("key", "replaced")
    assert_equal "replaced", cache.get("key")
    assert cache.delete("key")
    assert_nil cache.get("key")
    assert_equal "made", cache.fetch("fetched", 60) { "made" }
    assert_equal "made", cache.fetch("fetched", 60) { flunk }
    dalli_joins_counts_and_compares(cache)
    dalli_does_many_at_once(cache)
    assert_equal "1.6.18", cache.version.values.first
    assert_equal "1", cache.stats.values.first["threads"]
    assert cache.stats(:items)
    assert cache.flush
    assert_nil cache.get("fetched")
  end

  def dalli_joins_counts_and_compares(cache)
    cache.set("text", "b", 60, raw: true)
    cache.append("text", "c")
    cache.prepend("text", "a")
    assert_equal "abc", cache.get("text", raw: true)
    assert_equal 5, cache.incr("count", 2, 60, 5)
    assert_equal 7, cache.incr("count", 2)
    assert_equal 0, cache.decr("count", 9)
    assert_nil cache.incr("absent", 1)
    assert cache.touch("text", 100)
    assert_equal "abc", cache.gat("text", 100)
    refute cache.touch("absent", 100)
    assert cache.cas("text") { |old| "#{old}!" }
    value, cas = cache.get_cas("text")
    assert_equal "abc!", value
    assert cache.set_cas("text", "new", cas)
    refute cache.set_cas("text", "newer", cas)
    refute cache.delete_cas("text", cas)
  end

  def dalli_does_many_at_once(cache)
    expected = (1..500).to_h { |number| ["many#{number}", "x" * number] }
    cache.quiet { expected.each { |key, value| cache.set(key, value) } }
    assert_equal expected, cache.get_multi(*expected.keys, "absent")
    large = Random.new(1).bytes(1_000_000)
    assert cache.set("large", large, 60, raw: true)
    assert_equal large, cache.get("large", raw: true)
    assert_raises(Dalli::ValueOverMaxSize) { cache.set("larger", large + large, 60, raw: true) }
  end
end
