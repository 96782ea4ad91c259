# frozen_string_literal: true

require_relative "../test_helper"
require "dalli"
require "json"
require "open3"
require "pelton/memcached"

# Pelton reads values that other clients have stored, and they read Pelton's values: the same bytes and flags, and with
# libmemcached on the same servers.
class MemcachedInteroperationTest < PeltonTest
  VALUES = {"hash" => {"a" => [1, nil, "x"]}, "string" => "text", "number" => 7, "long" => "long " * 5000}.freeze

  def setup
    Dalli.logger.level = Logger::ERROR
    @address = "127.0.0.1:#{with_memcached}"
  end

  def client(**options) = Pelton::Memcached::Client.new(@address, **options)

  def test_dalli_as_it_is
    both_ways(Dalli::Client.new(@address, protocol: :meta), client(serializer: Marshal, compress: true))
  end

  def test_dalli_with_json
    both_ways(Dalli::Client.new(@address, serializer: JSON, protocol: :meta), client(serializer: JSON, compress: true))
  end

  def test_dalli_raw_and_its_namespace
    dalli = Dalli::Client.new(@address, namespace: "app", raw: true, protocol: :meta)
    own = client(namespace: "app:")
    dalli.set("a", "dalli's")
    own.set("b", "own")

    assert_equal "dalli's", own.get("a")
    assert_equal "own", dalli.get("b")
    assert_equal({"a" => "dalli's", "b" => "own"}, dalli.get_multi("a", "b"))
    own.set("n", "5")
    assert_equal 6, dalli.incr("n")
    assert_equal 7, own.incr("n")
  end

  # The gem sets no flag for marshalled values, and hashes keys by FNV-1.
  GEM = <<~'RUBY'
    begin
      gem "memcached"
    rescue LoadError
      exit 3
    end
    require "memcached"
    require "pelton/memcached"

    theirs = Memcached.new(ARGV, prefix_key: "app_")
    own = Pelton::Memcached::Client.new(ARGV, namespace: "app_", hash: :fnv1_32)
    100.times { |i| theirs.set("theirs-#{i}", {"i" => i}) }
    100.times { |i| own.set("own-#{i}", i.to_s) }
    abort "theirs" unless (0...100).all? { |i| Marshal.load(own.get("theirs-#{i}")) == {"i" => i} }
    abort "own" unless (0...100).all? { |i| theirs.get("own-#{i}", false) == i.to_s }
  RUBY

  def test_the_memcached_gem_with_several_servers_and_a_prefix
    ports = Array.new(3) { |i| with_memcached("memcached #{i}") }
    _, errors, status = run_ruby(GEM, *ports.map { |port| "127.0.0.1:#{port}" }, gems: true)
    skip "the memcached gem is not installed" if status.exitstatus == 3

    assert_predicate status, :success?, errors
  end

  PYTHON = <<~'PYTHON'
    import json, sys, zlib
    from pymemcache.client.base import Client

    SERIALIZED, COMPRESSED = 1, 2

    class PeltonSerde:
        def serialize(self, key, value):
            flags = SERIALIZED
            value = json.dumps(value).encode()
            if len(value) >= 4096:
                value, flags = zlib.compress(value), flags | COMPRESSED
            return value, flags

        def deserialize(self, key, value, flags):
            if flags & COMPRESSED:
                value = zlib.decompress(value)
            return json.loads(value) if flags & SERIALIZED else value

    host, port = sys.argv[1].split(":")
    plain = Client((host, int(port)))
    assert plain.get("raw") == b"own \x00\xff"
    plain.set("theirs", b"theirs \x00\xff")
    assert plain.incr("n", 2) == 9
    coded = Client((host, int(port)), serde=PeltonSerde())
    values = {name: coded.get(name) for name in ("hash", "string", "number", "long")}
    assert values == json.loads(sys.argv[2]), values
    for name, value in values.items():
        coded.set("py-" + name, value)
  PYTHON

  def test_pymemcache
    own = client
    coded = client(serializer: JSON, compress: true)
    own.set("raw", "own \x00\xff".b)
    own.set("n", "7")
    coded.set_multi(VALUES)
    output, status = Open3.capture2e("/usr/bin/python3", "-c", PYTHON, @address, JSON.generate(VALUES))
    skip "pymemcache is not installed" if output.include?("No module named 'pymemcache'")
    assert_predicate status, :success?, output

    assert_equal "theirs \x00\xff".b, own.get("theirs")
    assert_equal VALUES, VALUES.keys.to_h { |name| [name, coded.get("py-#{name}")] }
  end

  private

  def both_ways(theirs, own)
    VALUES.each do |name, value|
      theirs.set("their-#{name}", value)
      own.set("own-#{name}", value)

      assert_equal value, own.get("their-#{name}"), name
      assert_equal value, theirs.get("own-#{name}"), name
    end
    assert_equal VALUES.size, own.get_multi(VALUES.keys.map { |name| "their-#{name}" }).size
  end
end
