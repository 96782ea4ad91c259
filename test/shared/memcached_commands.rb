# frozen_string_literal: true

# The commands other than get, set and delete, with a real memcached, in every style.
module MemcachedCommands
  def setup
    super
    with_memcached # outside of any reactor
  end

  def test_gets_returns_the_cas_that_set_takes
    within do
      cache = client
      assert_nil ask(cache, :gets, "k")
      ask(cache, :set, "k", "old")
      value, cas = ask(cache, :gets, "k")

      assert_equal "old", value
      assert_kind_of Integer, cas
      assert_equal true, ask(cache, :set, "k", "new", cas: cas)
      assert_equal false, ask(cache, :set, "k", "late", cas: cas)
      assert_equal false, ask(cache, :set, "absent", "v", cas: cas)
      assert_equal false, ask(cache, :set, "k", "v", cas: 2**64 - 1)
      assert_equal "new", ask(cache, :get, "k")
    end
  end

  def test_delete_with_cas_deletes_an_unchanged_item
    within do
      cache = client
      ask(cache, :set, "k", "old")
      cas = ask(cache, :gets, "k").last
      ask(cache, :set, "k", "new")

      assert_equal false, ask(cache, :delete, "k", cas: cas)
      assert_equal true, ask(cache, :delete, "k", cas: ask(cache, :gets, "k").last)
      assert_nil ask(cache, :get, "k")
    end
  end

  def test_item_returns_all_properties
    within do
      cache = client
      assert_nil ask(cache, :item, "k")
      ask(cache, :set, "k", "v", flags: 0xfedcba98, ttl: 1000)
      item = ask(cache, :item, "k")

      assert_equal "v", item.value
      assert_equal 0xfedcba98, item.flags
      assert_equal false, item.won
      assert_ttl 990..1000, cache, "k"
      assert_equal ask(cache, :gets, "k").last, item.cas
      ask(cache, :set, "k", "v")
      other = ask(cache, :item, "k")
      assert_equal 0, other.flags
      assert_nil other.ttl
    end
  end

  def test_the_first_caller_near_the_expiry_wins_the_recache
    within do
      cache = client
      ask(cache, :set, "k", "v", ttl: 100)

      assert_equal false, ask(cache, :item, "k", recache: 50).won
      assert_equal [true, false, false], Array.new(3) { ask(cache, :item, "k", recache: 200).won }
    end
  end

  def test_add_stores_absent_keys_and_replace_present_ones
    within do
      cache = client
      assert_equal false, ask(cache, :replace, "k", "0")
      assert_equal true, ask(cache, :add, "k", "1")
      assert_equal false, ask(cache, :add, "k", "2")
      assert_equal "1", ask(cache, :get, "k")
      assert_equal true, ask(cache, :replace, "k", "3", ttl: 60, flags: 7)
      assert_equal ["3", 7], ask(cache, :item, "k").to_a.first(2)
    end
  end

  def test_stream_returns_a_value_that_may_still_be_arriving
    within do
      cache = client
      [0, 1, 70_000, 900_000].each do |size|
        value = Random.bytes(size)
        ask(cache, :set, "k", value)
        stream = ask(cache, :stream, "k")

        assert_equal size, stream.bytesize
        assert_equal value, stream.read
        assert_equal value, stream.read
        assert_nil stream.close
      end
      assert_nil ask(cache, :stream, "absent")
    end
  end

  def test_append_and_prepend
    within do
      cache = client
      assert_equal false, ask(cache, :append, "k", "x")
      assert_equal false, ask(cache, :prepend, "k", "x")
      ask(cache, :set, "k", "b", flags: 5)

      assert_equal true, ask(cache, :append, "k", "c\r\n")
      assert_equal true, ask(cache, :prepend, "k", "a" * 20_000)
      assert_equal ["#{"a" * 20_000}bc\r\n", 5], ask(cache, :item, "k").to_a.first(2)
    end
  end

  def test_counters
    within do
      cache = client
      assert_nil ask(cache, :incr, "k")
      assert_nil ask(cache, :decr, "k")
      ask(cache, :set, "k", "5")

      assert_equal 6, ask(cache, :incr, "k")
      assert_equal 16, ask(cache, :incr, "k", 10)
      assert_equal 15, ask(cache, :decr, "k")
      assert_equal 0, ask(cache, :decr, "k", 99)
      assert_equal 2**64 - 1, ask(cache, :incr, "k", 2**64 - 1)
      assert_equal 1, ask(cache, :incr, "k", 2) # modulo 2**64
      assert_equal 1, ask(cache, :incr, "k", 0)
    end
  end

  def test_a_counter_begins_with_initial
    within do
      cache = client
      assert_equal 7, ask(cache, :incr, "k", initial: 7)
      assert_equal 8, ask(cache, :incr, "k", initial: 7)
      assert_equal 2**64 - 1, ask(cache, :incr, "big", initial: 2**64 - 1)
      assert_equal 2**64 - 1, ask(cache, :decr, "huge", initial: 2**64 - 1)
      assert_equal 9, ask(cache, :decr, "down", 3, initial: 9)
      assert_equal 6, ask(cache, :decr, "down", 3, initial: 9)
      assert_equal 3, ask(cache, :incr, "short", initial: 3, ttl: 100)
      assert_ttl 90..100, cache, "short"
      assert_nil ask(cache, :item, "k").ttl
    end
  end

  def test_a_value_that_is_not_a_number_is_not_counted
    within do
      cache = client
      ask(cache, :set, "k", "a number")
      error = assert_raises(Pelton::Memcached::ServerError) { ask(cache, :incr, "k") }

      assert_match(/non-numeric/, error.message)
      assert_equal "a number", ask(cache, :get, "k")
    end
  end

  def test_touch_and_gat_set_a_new_ttl
    within do
      cache = client
      assert_equal false, ask(cache, :touch, "k", ttl: 1)
      assert_nil ask(cache, :gat, "k", ttl: 1)
      ask(cache, :set, "k", "v", ttl: 10)

      assert_equal true, ask(cache, :touch, "k", ttl: 1000)
      assert_ttl 990..1000, cache, "k"
      assert_equal "v", ask(cache, :gat, "k", ttl: 0)
      assert_nil ask(cache, :item, "k").ttl
      assert_equal "v", ask(cache, :gat, "k", ttl: 2_592_001)
      assert_ttl 2_591_990..2_592_010, cache, "k"
      ask(cache, :touch, "k", ttl: -1)
      assert_nil ask(cache, :get, "k")
    end
  end

  def test_multi_commands
    within do
      cache = client
      pairs = (0...300).to_h { |i| ["key-#{i}", "value #{i}".b * (i % 7)] }

      assert_equal 300, ask(cache, :set_multi, pairs)
      assert_equal pairs, ask(cache, :get_multi, pairs.keys)
      assert_equal pairs.slice("key-7", "key-9"), ask(cache, :get_multi, "key-7", "absent", "key-9")
      assert_equal 2, ask(cache, :delete_multi, "key-7", "absent", "key-9")
      assert_equal pairs.except("key-7", "key-9"), ask(cache, :get_multi, pairs.keys)
    end
  end

  def test_multi_commands_without_keys
    within do
      cache = client
      assert_equal({}, ask(cache, :get_multi))
      assert_equal({}, ask(cache, :get_multi, []))
      assert_equal 0, ask(cache, :set_multi, {})
      assert_equal 0, ask(cache, :delete_multi)
    end
  end

  def test_multi_commands_with_options
    within do
      cache = client
      ask(cache, :set_multi, {"a" => "1", :b => "2"}, ttl: 100, flags: 9)

      assert_equal({"a" => "1", :b => "2"}, ask(cache, :get_multi, "a", :b, timeout: 5))
      assert_equal 9, ask(cache, :item, "b").flags
      assert_ttl 90..100, cache, "b"
      assert_equal({"a" => "1"}, ask(cache, :get_multi, "a", "a"))
    end
  end

  def test_a_large_value_in_a_multi_command
    within do
      cache = client
      pairs = {"a" => "1", "large" => "l" * 900_000, "uncopied" => "u" * 20_000, "b" => "2"}

      assert_equal 4, ask(cache, :set_multi, pairs)
      assert_equal pairs, ask(cache, :get_multi, pairs.keys)
    end
  end

  # The error is raised, and the other commands are executed.
  def test_one_refused_value_of_a_multi_command
    within do
      cache = client
      error = assert_raises(Pelton::Memcached::ServerError) do
        ask(cache, :set_multi, {"a" => "1", "b" => "x" * 2_000_000, "c" => "3"})
      end

      assert_match(/too large/, error.message)
      assert_equal({"a" => "1", "c" => "3"}, ask(cache, :get_multi, "a", "b", "c"))
    end
  end

  def test_a_key_that_is_changed_afterwards_does_not_matter
    within do
      cache = client
      key = +"key"
      ask(cache, :set_multi, {key => "v"})
      values = ask(cache, :get_multi, key)
      key << "s"

      assert_equal({"key" => "v"}, values)
    end
  end

  # The replies' Hash compares keys while the loop receives, where no code of the program's may run.
  def test_no_method_of_a_key_is_called_while_replies_arrive
    keys = Array.new(2) { Class.new(String) { def eql?(other) = raise("#{other} called it") }.new("a") }
    within do
      cache = client
      ask(cache, :set_multi, {keys[0] => "1"})

      assert_equal({"a" => "1"}, ask(cache, :get_multi, *keys))
    end
  end

  def test_results_of_servers_are_keyed_by_address
    within do
      cache = client
      address = cache.server.to_s

      assert_equal({address => ask(cache, :version)}, ask(cache, :versions))
      assert_match(/\A\d+\z/, ask(cache, :stats).fetch(address).fetch("curr_items"))
      assert_equal "127.0.0.1", ask(cache, :stats, :settings).fetch(address).fetch("inter")
      assert_equal({address => {}}, ask(cache, :stats, "reset"))
    end
  end

  def test_flush_all_deletes_everything
    return if is_a?(MemcachedStyles::Concurrent) # the other fibers need their keys
    within do
      cache = client
      ask(cache, :set, "k", "v")
      assert_equal true, ask(cache, :flush_all, delay: 100)
      assert_equal "v", ask(cache, :get, "k")
      assert_equal true, ask(cache, :flush_all)
      assert_nil ask(cache, :get, "k")
    end
  end

  def test_invalid_arguments_of_these_commands_raise_at_once
    within do
      cache = client
      [-1, 2**64, 1.5, "1", "1\r\nflush_all"].each do |number|
        assert_raises(ArgumentError, TypeError, number) { ask(cache, :incr, "k", number) }
        assert_raises(ArgumentError, TypeError, number) { ask(cache, :incr, "k", initial: number) }
        assert_raises(ArgumentError, TypeError, number) { ask(cache, :set, "k", "v", cas: number) }
        assert_raises(ArgumentError, TypeError, number) { ask(cache, :delete, "k", cas: number) }
        assert_raises(ArgumentError, TypeError, number) { ask(cache, :set, "k", "v", flags: number) }
        assert_raises(ArgumentError, TypeError, number) { ask(cache, :item, "k", recache: number) }
        assert_raises(ArgumentError, TypeError, number) { ask(cache, :flush_all, delay: number) }
      end
      assert_raises(ArgumentError) { ask(cache, :set, "k", "v", flags: 2**32) }
      assert_raises(ArgumentError) { ask(cache, :touch, "k") }
      assert_raises(ArgumentError) { ask(cache, :gat, "k") }
      assert_raises(ArgumentError) { ask(cache, :touch, "k", ttl: nil) }
      assert_raises(ArgumentError) { ask(cache, :incr, "k", ttl: 5) }
      assert_raises(ArgumentError) { ask(cache, :append, "k", "v", ttl: 5) }
      assert_raises(ArgumentError) { ask(cache, :stats, "a b") }
      assert_raises(TypeError) { ask(cache, :append, "k", 7) }
      assert_raises(TypeError) { ask(cache, :set_multi, ["a"]) }
      assert_raises(TypeError) { ask(cache, :set_multi, {"a" => 1}) }
      assert_raises(TypeError) { ask(cache, :get_multi, "a", 1) }
      assert_equal({}, ask(cache, :get_multi, "k", "a"))
    end
  end

  # An invalid key keeps all commands of its list from being sent.
  def test_invalid_keys_of_these_commands_raise_at_once
    within do
      cache = client
      ask(cache, :set, "a", "1")
      ["", "a b", "a\r\nflush_all", "k" * 251].each do |key|
        %i[gets item incr decr].each do |command|
          assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, command, key) }
        end
        %i[add replace append prepend].each do |command|
          assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, command, key, "v") }
        end
        %i[touch gat].each do |command|
          assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, command, key, ttl: 1) }
        end
        assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, :get_multi, "a", key) }
        assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, :delete_multi, "a", key) }
        assert_raises(Pelton::Memcached::InvalidKeyError) { ask(cache, :set_multi, {"a" => "2", key => "v"}) }
      end
      assert_equal "1", ask(cache, :get, "a")
    end
  end

  private

  def assert_ttl(range, cache, key)
    assert_includes range, ask(cache, :item, key).ttl
  end
end
