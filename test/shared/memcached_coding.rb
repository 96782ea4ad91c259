# frozen_string_literal: true

require "json"

# A client with a serializer, compression, a namespace and an instrument, in every style.
module MemcachedCoding
  # A serializer whose load and dump can wait and fail.
  class Difficult
    def dump(value)
      sleep 0.001
      raise IndexError, "cannot" if value == :difficult
      JSON.generate(value)
    end

    def load(bytes)
      sleep 0.001
      raise IndexError, "cannot" if bytes == "13"
      JSON.parse(bytes)
    end
  end

  def setup
    super
    with_memcached # outside of any reactor
  end

  VALUES = {"list" => [1, nil, {"a" => "ü"}], "string" => "ü", "long" => "x" * 5000, "false" => false}.freeze

  def test_values_come_back_decoded
    within do
      cache = client(serializer: JSON, compress: true)
      VALUES.each do |key, value|
        assert_equal true, ask(cache, :set, key, value)
        assert_equal value, ask(cache, :get, key)
        assert_equal value, ask(cache, :gat, key, ttl: 100)
        assert_equal value, ask(cache, :gets, key).first
        assert_equal value, ask(cache, :item, key).value
        assert_equal true, ask(cache, :replace, key, value)
        assert_equal true, ask(cache, :set, key, value, cas: ask(cache, :gets, key).last)
      end
      %i[get gets item].each { |command| assert_nil ask(cache, command, "absent") }
      assert_equal VALUES, ask(cache, :get_multi, *VALUES.keys, "absent")
      ask(cache, :flush_all) unless is_a?(MemcachedStyles::Concurrent)
      assert_equal VALUES.size, ask(cache, :set_multi, VALUES)
      assert_equal VALUES, ask(cache, :get_multi, VALUES.keys)
    end
  end

  def test_raw_values
    within do
      cache = client(serializer: JSON, compress: 10)
      assert_equal true, ask(cache, :set, "n", "5", raw: true)
      assert_equal 6, ask(cache, :incr, "n")
      assert_equal "6", ask(cache, :get, "n", raw: true)
      assert_equal 6, ask(cache, :incr, "n", 0)
      ask(cache, :set, "k", ["x"] * 100)

      assert_equal JSON.generate(["x"] * 100), Zlib.inflate(ask(cache, :get, "k", raw: true))
      assert_equal({"n" => "6"}, ask(cache, :get_multi, "n", raw: true))
      assert_equal ["6", ask(cache, :item, "n").cas], ask(cache, :gets, "n", raw: true)
      assert_equal true, ask(cache, :append, "n", "6")
      assert_equal "66", ask(cache, :get, "n")
    end
  end

  def test_flags_beside_the_codecs
    within do
      cache = client(serializer: JSON)
      ask(cache, :set, "k", [1], flags: 0x100)

      assert_equal [[1], 0x101], ask(cache, :item, "k").to_a.first(2)
      assert_raises(ArgumentError) { ask(cache, :set, "k", [1], flags: 1) }
    end
  end

  def test_an_error_in_dump_raises_at_once
    within do
      cache = client(serializer: Difficult.new)

      assert_kind_of IndexError,
        assert_raises(Pelton::Memcached::ValueError) { ask(cache, :set, "k", :difficult) }.cause
      assert_raises(Pelton::Memcached::ValueError) { ask(cache, :set_multi, {"a" => 1, "b" => :difficult}) }
      assert_equal({}, ask(cache, :get_multi, "k", "a", "b"))
    end
  end

  # A serializer may wait: other fibers go on meanwhile, and the order of replies stays.
  def test_an_error_in_load_fails_one_operation_alone
    within do
      cache = client(serializer: Difficult.new)
      ask(cache, :set_multi, {"good" => 12, "bad" => 13})

      [:get, :gets, :item].each do |command|
        assert_raises(Pelton::Memcached::ValueError, command) { ask(cache, command, "bad") }
      end
      assert_raises(Pelton::Memcached::ValueError) { ask(cache, :get_multi, "good", "bad") }
      assert_equal 12, ask(cache, :get, "good")
    end
  end

  def test_a_namespace_prefixes_every_key
    within do
      cache, all = client(namespace: "ns:"), client
      ask(cache, :set, "k", "v")
      ask(cache, :set_multi, {:a => "1", "b" => "2"})

      assert_equal "v", ask(cache, :get, "k")
      assert_equal "v", ask(all, :get, "ns:k")
      assert_nil ask(all, :get, "k")
      assert_equal({:a => "1", "b" => "2"}, ask(cache, :get_multi, :a, "b"))
      assert_equal({"ns:a" => "1"}, ask(all, :get_multi, "ns:a"))
      assert_equal 1, ask(cache, :incr, "n", initial: 1)
      assert_equal "1", ask(all, :get, "ns:n")
      assert_equal true, ask(cache, :delete, "k")
      assert_equal "x", ask(cache, :set, "k" * 247, "x") && ask(all, :get, "ns:#{"k" * 247}")
      assert_match(/namespace/,
        assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, :get, "k" * 248) }.message)
      assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, :get, "") }
      ["a b", "", "a\r\nflush_all"].each { |namespace| assert_raises(ArgumentError) { client(namespace: namespace) } }
    end
  end

  # Calls a subscriber at the beginning and the end of each event.
  Listener = Struct.new(:events) do
    def start(event) = events << event.payload.values_at(:command, :key)
    def finish(event) = events << [*event.payload.values_at(:command, :key, :hit), event.error.class]
  end

  def test_each_command_is_an_event
    events = []
    subscription = Pelton::Notifications.subscribe("command.memcached", Listener.new(events))
    within do
      cache = client(serializer: JSON)
      ask(cache, :set, "k", [1])
      ask(cache, :get, "k")
      ask(cache, :get_multi, "k", "absent")
      assert_raises(Pelton::Memcached::ServerError) { ask(cache, :incr, "k") }
      events.reject! { |event| event[1].to_s.start_with?("fiber-") }

      assert_equal [[:set, "k"], [:set, "k", nil, NilClass], [:get, "k"], [:get, "k", true, NilClass],
        [:get_multi, %w[k absent]], [:get_multi, %w[k absent], nil, NilClass],
        [:incr, "k"], [:incr, "k", nil, Pelton::Memcached::ServerError]], events
      events.clear
      assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, :get, "a b") }
      cache.close
      assert_raises(Pelton::ClosedError) { ask(cache, :get, "k") }
      assert_raises(Pelton::ClosedError) { ask(cache, :get_multi, "k") }
      events.reject! { |event| event[1].to_s.start_with?("fiber-") }

      assert_equal [[:get, "a b"], [:get, "a b", nil, Pelton::Memcached::InvalidKeyError], [:get, "k"],
        [:get, "k", nil, Pelton::ClosedError],
        [:get_multi, ["k"]], [:get_multi, ["k"], nil, Pelton::ClosedError]], events
    end
  ensure
    Pelton::Notifications.unsubscribe(subscription)
  end
end
