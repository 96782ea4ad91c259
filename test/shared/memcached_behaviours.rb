# frozen_string_literal: true

# A client of a real memcached, in every style.
module MemcachedBehaviours
  # Values that look like parts of the protocol.
  VALUES = {
    empty: "", word: "value", protocol: "a\r\nEND\r\nEN\r\nHD\r\n", nul: "\0\0", line_end: "\r\n", utf8: "häßlich ☃",
    bytes: Array.new(256, &:chr).join, frozen: "frozen", page: "p" * 4096, uncopied: "u" * 70_000,
    large: "l" * 1_000_000
  }.freeze

  KEYS = ["k", "k" * 250, "schlüssel", "a:b/c?d", "\xFF\xFE".b, "mg", "0"].freeze

  def setup
    super
    with_memcached # outside of any reactor
  end

  def test_an_absent_key_is_nil
    within { assert_nil ask(client, :get, "absent") }
  end

  def test_values_come_back_byte_for_byte
    within do
      cache = client
      VALUES.each do |name, value|
        assert_equal true, ask(cache, :set, "k", value), name
        got = ask(cache, :get, "k")

        assert_equal value.b, got, name
        assert_equal Encoding::BINARY, got.encoding
        refute_predicate got, :frozen?
      end
    end
  end

  def test_every_legal_key_is_distinct
    within do
      cache = client
      KEYS.each { |key| ask(cache, :set, key, "value of #{key}".b) }
      KEYS.each { |key| assert_equal "value of #{key}".b, ask(cache, :get, key) }
      ask(cache, :set, :symbol, "s")

      assert_equal "s", ask(cache, :get, "symbol")
    end
  end

  def test_delete_returns_whether_the_key_existed
    within do
      cache = client
      ask(cache, :set, "k", "v")

      assert_equal true, ask(cache, :delete, "k")
      assert_equal false, ask(cache, :delete, "k")
      assert_nil ask(cache, :get, "k")
    end
  end

  def test_version_is_the_servers
    within { assert_match(/\A\d+\.\d+/, ask(client, :version)) }
  end

  def test_an_expired_value_is_absent
    within do
      cache = client
      [-1, -0.5, -10**9].each do |ttl|
        ask(cache, :set, "k", "v", ttl: ttl)

        assert_nil ask(cache, :get, "k"), ttl
      end
    end
  end

  # memcached would take a TTL of more than 30 days for a date in 1970, and accepts no date after 2038; 0, nil and
  # infinity never expire.
  def test_an_unexpired_value_is_present
    within do
      cache = client
      [nil, 0, 60, 60.5, 2_592_000, 2_592_001, 10**9, 10**12, 2r, Float::INFINITY].each do |ttl|
        ask(cache, :set, "k", "v", ttl: ttl)

        assert_equal "v", ask(cache, :get, "k"), ttl
        ask(cache, :delete, "k")
      end
      # memcached's clock ticks once a second: the next tick may be there already.
      assert((1..20).any? { ask(cache, :set, "k", "v", ttl: 0.3) && ask(cache, :get, "k") == "v" })
    end
  end

  def test_a_refused_value_leaves_the_connection_usable
    within do
      cache = client
      error = assert_raises(Pelton::Memcached::ServerError) { ask(cache, :set, "k", "x" * 3_000_000) }
      assert_match(/too large/, error.message)

      assert_nil ask(cache, :get, "k")
      ask(cache, :set, "k", "small")
      assert_equal "small", ask(cache, :get, "k")
    end
  end

  # Mistakes of the program: the client sends nothing, and the call itself raises, in every style.
  def test_keys_that_cannot_be_sent_raise_at_once
    within do
      cache = client
      ["", " ", "a b", "a\r\nflush_all", "a\n", "a\0b", "\t", "\x7f", "k" * 251, "ü" * 126].each do |key|
        assert_raises(Pelton::Memcached::InvalidKeyError, key) { cache.get(key) { flunk } }
        assert_raises(Pelton::Memcached::InvalidKeyError, key) { ask(cache, :get, key) }
        assert_raises(Pelton::Memcached::InvalidKeyError, key) { ask(cache, :set, key, "v") }
        assert_raises(Pelton::Memcached::InvalidKeyError, key) { ask(cache, :delete, key) }
      end
      [nil, 1, [], Object.new].each do |key|
        assert_raises(TypeError) { ask(cache, :get, key) }
        assert_raises(TypeError) { ask(cache, :set, key, "v") }
      end
      assert_nil ask(cache, :get, "k")
    end
  end

  def test_invalid_arguments_raise_at_once
    within do
      cache = client
      [nil, 1, :symbol, ["a"], {}].each { |value| assert_raises(TypeError) { ask(cache, :set, "k", value) } }
      ["60", "1\r\nflush_all", [], Object.new].each do |ttl|
        assert_raises(TypeError) { ask(cache, :set, "k", "v", ttl: ttl) }
      end
      assert_raises(ArgumentError, RangeError) { ask(cache, :set, "k", "v", ttl: Float::NAN) }
      assert_raises(TypeError) { ask(cache, :get, "k", timeout: "1") }
      assert_raises(ArgumentError) { ask(cache, :get, "k", tiemout: 1) }
      assert_raises(ArgumentError) { ask(cache, :get, "k", ttl: 1) }
      assert_raises(ArgumentError) { ask(cache, :get) }
      assert_raises(ArgumentError) { ask(cache, :set, "k", ttl: 1) } # without a value
      assert_nil ask(cache, :get, "k")
    end
  end

  def test_a_key_with_to_str_is_converted_first
    cache = nil
    key = Object.new
    key.define_singleton_method(:to_str) { cache.close || "k" } # the conversion of the key closes the client
    within do
      cache = client
      ask(cache, :set, "k", "v")
      assert_raises(Pelton::ClosedError) { ask(cache, :get, key) }
    end
  end

  def test_an_unused_timeout_changes_nothing
    within do
      cache = client

      assert ask(cache, :set, "k", "v", timeout: 30)
      assert_equal "v", ask(cache, :get, "k", timeout: 30)
      assert_equal "v", ask(cache, :get, "k", timeout: nil)
    end
  end

  def test_several_clients_are_independent
    within do
      one, other = client, client
      ask(one, :set, "k", "v")
      one.close

      assert_equal "v", ask(other, :get, "k")
      assert_raises(Pelton::ClosedError) { ask(one, :get, "k") }
    end
  end
end
