# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_styles"
require_relative "../support/fault_proxy"
require_relative "../support/lying_memcached"

# More operations than may be in flight, or than the server answers in time.
class MemcachedLimitsTest < PeltonTest
  include LyingMemcached
  include MemcachedStyles::Common

  # Runs the block with a server that puts the commands on a queue and answers one for each token.
  def with_slow_memcached(**options)
    arrived, tokens = Thread::Queue.new, Thread::Queue.new
    script = lambda do |peer|
      while (line = peer.command)
        asked = line.sub(/\A(mg \S+) k/, "\\1") # every other get asks for its key
        arrived << asked
        break if tokens.pop == :end
        peer.answer(line, line.start_with?("ms") ? "HD\r\n" : "VA #{asked.bytesize}\r\n#{asked}\r\n")
      end
    end
    with_lying_memcached(script) do |address|
      cache = client(address, **options)
      Pelton.run { yield cache, arrived, tokens }
    end
  ensure
    tokens&.close
  end

  # What gets return whose replies come one by one, the last of them after twice the timeout. Those too late are
  # missing.
  def values_of_a_slow_memcached(count, timeout)
    values = []
    with_slow_memcached(timeout: timeout) do |cache, _, tokens|
      count.times { |i| cache.get("key-#{i}") { |value| values << value }.errback {} }
      Pelton.spawn { count.times { sleep(timeout / 10.0) && tokens << :answer } }
    end
    values
  end

  # If it did, this run would never end.
  def test_a_timed_out_operation_does_not_keep_run_going
    with_lying_memcached(->(peer) { nil while peer.command }) do |address|
      cache = Pelton::Memcached::Client.new(address, timeout: nil)
      clients << cache
      [[:get, "k"], [:stream, "k"], [:get_multi, "k", "l"], [:stats]].each do |command|
        Pelton.run { assert_raises(Pelton::TimeoutError) { cache.public_send(*command, timeout: 0.05) } }
      end
    end
  end

  def test_callback_style_fails_beyond_twice_the_limit
    with_memcached
    stored, refused = [], []
    Pelton.run do
      cache = client(max_operations: 10)
      50.times { |i| cache.set("key-#{i}", "v") { stored << i }.errback { |error| refused << [i, error] } }
    end

    assert_equal (0...20).to_a, stored
    assert_equal (20...50).to_a, refused.map(&:first)
    assert_equal [Pelton::OverloadError], refused.map { |_, error| error.class }.uniq
    assert_predicate refused.first.last, :retriable?
  end

  def test_bytes_in_flight_are_limited
    with_memcached
    stored, refused = 0, 0
    Pelton.run do
      cache = client(max_bytes: 10_000)
      cache.get("k")
      50.times { |i| cache.set("key-#{i}", "v" * 1000) { stored += 1 }.errback { refused += 1 } }
    end

    assert_equal 50, stored + refused
    assert_operator stored, :>=, 20
    assert_operator refused, :>, 20
  end

  def test_direct_style_waits_for_capacity
    with_slow_memcached(max_operations: 3) do |cache, arrived, tokens|
      running = 0
      tasks = Array.new(10) do |i|
        Pelton.spawn do
          value = cache.get("key-#{i}")
          running += 1
          value
        end
      end
      Pelton.spawn do
        10.times do
          tokens << :answer
          sleep 0.002
        end
      end
      assert_equal (0...10).map { |i| "mg key-#{i} v" }, tasks.map(&:await)

      assert_equal 10, running
      assert_equal 10, arrived.size
    end
  end

  # A task whose command has arrived.
  def asked(cache, arrived, key)
    task = Pelton.spawn { cache.get(key) }
    eventually("the command") { Pelton::Reactor.current.yield || arrived.size == 1 }
    task
  end

  def test_waiting_for_capacity_times_out
    with_slow_memcached(max_operations: 1) do |cache, arrived, tokens|
      first = asked(cache, arrived, "a")
      error = assert_raises(Pelton::TimeoutError) { cache.get("b", timeout: 0.02) }
      assert_match(/too many operations/, error.message)
      tokens << :answer
      assert_equal "mg a v", first.await
      tokens << :answer
      assert_equal "mg c v", cache.get("c")

      assert_equal ["mg a v", "mg c v"], Array.new(2) { arrived.pop }
    end
  end

  def test_a_fiber_waiting_for_capacity_moves_to_the_next_connection
    with_slow_memcached(max_operations: 1) do |cache, arrived, tokens|
      first = asked(cache, arrived, "a")
      second = Pelton.spawn { cache.get("b") }
      Pelton::Reactor.current.yield
      tokens << :end << :answer

      assert_raises(Pelton::ConnectionError) { first.await }
      assert_equal "mg b v", second.await
    end
  end

  # An operation's time counts from its connection's last progress.
  def test_pending_operations_do_not_time_out_while_replies_come
    expected = (0...20).map { |i| "mg key-#{i} v" }

    assert([0.2, 1, 10].any? { |timeout| expected == values_of_a_slow_memcached(expected.size, timeout) })
  end

  def test_a_hundred_thousand_pending_operations
    with_memcached
    right = 0
    Pelton.watchdog = nil # queueing takes a moment
    Pelton.run do
      cache = client
      100_000.times { |i| cache.set("key-#{i % 1000}", i.to_s) { |stored| right += 1 if stored } }
      100_000.times { |i| cache.get("key-#{i % 1000}") { |value| right += 1 if value == (99_000 + i % 1000).to_s } }
    end

    assert_equal 200_000, right
  end
end
