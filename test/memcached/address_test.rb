# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/memcached"

class MemcachedAddressTest < PeltonTest
  Address = Pelton::Memcached::Address

  def test_a_host_alone_has_the_default_port_and_weight
    address = Address.parse("cache.example")

    assert_equal "cache.example", address.host
    assert_equal 11211, address.port
    assert_nil address.path
    assert_equal 1, address.weight
    assert_equal "cache.example:11211", address.to_s
  end

  def test_the_forms_of_a_server
    {
      "a:1" => ["a", 1, nil, 1], "10.0.0.1:65535:8" => ["10.0.0.1", 65_535, nil, 8], "[::1]" => ["::1", 11211, nil, 1],
      "[fe80::1%eth0]:5:6" => ["fe80::1%eth0", 5, nil, 6],
      "/run/memcached.sock" => [nil, nil, "/run/memcached.sock", 1],
      "/run/memcached.sock:3" => [nil, nil, "/run/memcached.sock", 3]
    }.each do |text, parts|
      address = Address.parse(text)

      assert_equal parts, [address.host, address.port, address.path, address.weight], text
      assert_equal text.sub(/(\d):[368]\z/, '\1').sub("sock:3", "sock").sub(/\]\z/, "]:11211"), address.to_s
    end
  end

  def test_invalid_addresses
    ["", ":1", "a:", "a:0", "a:65536", "a:1:0", "a:1:-1", "a:1:2:3", "a b", "a/b", "::1", "[::1", "[a b]:1", "a:1\n",
      "a:1\nb",
      "http://a:1", "/run/a\0b", "/run/a:0"].each do |text|
      error = assert_raises(ArgumentError, text.inspect) { Address.parse(text) }

      assert_match(/server|port|weight/, error.message)
    end
    ["memcached://ann:s3cret@a", "ann:s3cret@a:1", "s3cret@a:1"].each do |text|
      refute_includes assert_raises(ArgumentError) { Address.parse(text) }.message, "s3cret"
    end
    [nil, 11211, []].each { |thing| assert_raises(ArgumentError, TypeError) { Address.parse(thing) } }
  end

  def test_a_parsed_address_is_returned_unchanged
    address = Address.parse("a:1:2")

    assert_same address, Address.parse(address)
    assert_predicate address, :frozen?
  end

  def test_equal_addresses_are_equal_hash_keys
    assert_equal Address.parse("a"), Address.parse("a:11211:1")
    assert_equal 1, [Address.parse("a"), Address.parse("a:11211")].uniq.size
    refute_equal Address.parse("a"), Address.parse("a:11211:2")
    refute_equal Address.parse("a"), "a:11211"
  end

  def test_the_name_on_the_ring_omits_the_default_port
    names = %w[a a:11211:5 a:11212 [::1] /run/m].map { |text| Address.parse(text).ring_name }

    assert_equal %w[a a a:11212 ::1 /run/m:0], names
  end
end
