# frozen_string_literal: true

require "json"
require_relative "../test_helper"
require_relative "../shared/memcached_styles"

class MemcachedFetchTest < PeltonTest
  include MemcachedStyles::Common

  def setup
    super
    with_memcached # outside of any reactor
  end

  def test_a_present_value_is_not_computed
    cache = client
    cache.set("k", "v")

    assert_equal "v", cache.fetch("k") { flunk }
  end

  def test_an_absent_value_is_computed_and_stored
    cache = client

    assert_equal "v", cache.fetch("k", ttl: 100, flags: 7) { "v" }
    item = cache.item("k")
    assert_equal "v", item.value
    assert_equal 7, item.flags
    assert_includes 90..100, item.ttl
    assert_equal "v", cache.fetch(:k) { flunk }
    assert_equal({}, cache.get_multi("k.computing"))
  end

  # An item with the ttl n lives for n - 1 to n seconds.
  def test_the_lock_lives_at_least_as_long_as_others_wait
    cache = client
    ttls = []
    cache.define_singleton_method(:add) do |*arguments, **options|
      ttls << options[:ttl] and super(*arguments, **options)
    end
    cache.fetch("k", wait: 50) { "v" }

    assert_equal [51], ttls
  end

  def test_a_value_that_was_changed_while_a_stale_one_was_computed_anew_stays
    cache = client
    {set: "newer", delete: nil}.each do |change, expected|
      cache.set("k", "old", ttl: 50)
      value = cache.fetch("k", ttl: 10, stale: 100) do
        (change == :set) ? cache.set("k", "newer", ttl: 1000) : cache.delete("k")
        "computed"
      end

      assert_equal "computed", value
      assert_equal expected, cache.get("k")
    end
  end

  def test_nil_is_not_stored
    cache = client(serializer: JSON)

    assert_nil cache.fetch("k") {}
    assert_equal false, cache.fetch("k") { false }
    assert_equal false, cache.fetch("k") { flunk }
  end

  # Tasks that fetch the same key at once; the block is called by the one that computes.
  def fetch_at_once(cache, count, &compute)
    Array.new(count) { Pelton.spawn { cache.fetch("k") { sleep(0.01) && compute.call } } }
  end

  def test_one_of_many_fibers_computes
    calls = 0
    Pelton.run do
      tasks = fetch_at_once(client, 200) { (calls += 1) && "v" }

      assert_equal ["v"], tasks.map(&:await).uniq
      assert_equal 1, calls
    end
  end

  def test_one_of_many_threads_and_processes_computes
    port = with_memcached
    outputs = Array.new(2) do
      Thread.new do
        ruby_output(<<~RUBY, port)
          require "pelton/memcached"
          cache = Pelton::Memcached::Client.new("127.0.0.1:\#{ARGV[0]}", timeout: 10)
          gate = Thread::Queue.new
          values = Array.new(4) { Thread.new { cache.fetch("k", wait: 60) { gate << 1; sleep 0.3; "v" } } }.map(&:value)
          puts gate.size, values.uniq.join
        RUBY
      end
    end.map(&:value)

    assert_equal ["v", "v"], outputs.map { |output| output.lines(chomp: true).last }
    assert_equal 1, outputs.sum { |output| output.lines.first.to_i }
  end

  # As if this process had paused between its miss and its lock.
  def test_a_value_stored_between_miss_and_lock_is_not_computed_again
    cache = client
    cache.define_singleton_method(:add) { |*arguments, **options| set("k", "other's") && super(*arguments, **options) }

    assert_equal "other's", cache.fetch("k") { flunk }
    assert_nil cache.get("k.computing")
  end

  def test_computing_after_anothers_failure_leaves_no_lock
    cache = client
    cache.set("k.computing", "")
    value = Pelton.run do
      task = Pelton.spawn { cache.fetch("k") { "v" } }
      sleep 0.002
      cache.delete("k.computing")
      task.await
    end

    assert_equal "v", value
    assert_nil cache.get("k.computing")
  end

  def test_a_limit_around_it_counts_while_the_server_is_silent
    silent = TCPServer.new("127.0.0.1", 0)
    cache = Pelton::Memcached::Client.new("127.0.0.1:#{silent.addr[1]}", timeout: 60)
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.01) { cache.fetch("k") { flunk } } }
      Pelton.stop # the operation still waits for its reply
    end
  ensure
    cache&.close
    silent&.close
  end

  def test_an_error_is_raised_in_all_waiting_fibers_and_the_next_call_computes_again
    cache = client
    calls = 0
    Pelton.run do
      tasks = fetch_at_once(cache, 5) { (calls += 1) && raise(IndexError) }
      tasks.each { |task| assert_raises(IndexError) { task.await } }

      assert_equal 1, calls
      assert_equal "v", cache.fetch("k") { "v" }
    end
  end

  def test_an_error_with_no_other_waiting_fiber_is_raised_once
    cache = client
    assert_empty(errors_reported { Pelton.run { assert_raises(IndexError) { cache.fetch("k") { raise IndexError } } } })
  end

  # A block that waited for itself would wait for ever.
  def test_a_block_that_fetches_its_own_key_computes_it
    cache = client

    assert_equal "inner", cache.fetch("k", wait: 0.05) { cache.fetch("k", wait: 0.05) { "inner" } }
    cache.delete("k")
    assert_equal "inner", Pelton.run { cache.fetch("k", wait: 0.05) { cache.fetch("k", wait: 0.05) { "inner" } } }
  end

  def test_a_child_does_not_wait_for_its_parents_computation
    cache = client
    value = cache.fetch("k", wait: 0.05) do
      reader, writer = IO.pipe
      pid = fork do
        writer.write(cache.fetch("k", wait: 0.05) { "child's" })
        writer.close
        exit!(0)
      end
      writer.close
      Process.wait(pid)
      reader.read
    end

    assert_equal "child's", value
  end

  def test_the_computing_fiber_may_be_cancelled
    cache = client
    Pelton.run do
      first = Pelton.spawn { cache.fetch("k") { sleep } }
      eventually("the computation") { Pelton::Reactor.current.yield || cache.get("k.computing") }
      second = Pelton.spawn { cache.fetch("k") { flunk } }
      Pelton::Reactor.current.yield
      first.cancel

      assert_raises(Pelton::ClosedError) { second.await }
      assert_equal "v", cache.fetch("k") { "v" }
    end
  end

  def test_fetch_waits_for_another_process_that_computes
    cache = client
    cache.set("k.computing", "")
    Pelton.run do
      waiting = Pelton.spawn { cache.fetch("k", wait: 60) { flunk } }
      sleep 0.02
      cache.set("k", "theirs")

      assert_equal "theirs", waiting.await
    end
  end

  def test_fetch_computes_after_another_process_gave_up
    cache = client
    cache.set("k.computing", "")
    Pelton.run do
      waiting = Pelton.spawn { cache.fetch("k", wait: 60) { "mine" } }
      sleep 0.02
      cache.delete("k.computing")

      assert_equal "mine", waiting.await
    end
  end

  def test_fetch_computes_when_another_process_takes_too_long
    cache = client
    cache.set("k.computing", "")

    assert_equal "mine", cache.fetch("k", wait: 0.02) { "mine" }
  end

  def test_near_the_expiry_the_first_caller_recomputes_and_others_get_the_old_value
    cache = client
    cache.set("k", "old", ttl: 100)
    Pelton.run do
      gate = Thread::Queue.new
      first = Pelton.spawn { cache.fetch("k", ttl: 10, stale: 1000) { gate.pop } }
      eventually("the computation") { Pelton::Reactor.current.yield || gate.num_waiting == 1 }

      assert_equal %w[old old], Array.new(2) { cache.fetch("k", ttl: 10, stale: 1000) { flunk } }
      gate << "new"
      assert_equal "new", first.await
      assert_equal "new", cache.fetch("k", ttl: 10, stale: 1000) { flunk }
      assert_includes 1000..1010, cache.item("k").ttl
    end
  end

  def test_fetch_computes_when_no_server_replies
    cache = client("127.0.0.1:#{free_port}")

    assert_equal "v", cache.fetch("k") { "v" }
  end

  def test_an_undecodable_value_is_computed_again
    client.set("k", "no json", flags: 1)
    cache = client(serializer: JSON)

    assert_equal [1], cache.fetch("k") { [1] }
    assert_equal [1], cache.get("k")
  end

  def test_arguments_are_checked
    cache = client
    assert_raises(ArgumentError) { cache.fetch("k") }
    assert_raises(ArgumentError) { cache.fetch("k", stale: 5) { "v" } }
    assert_raises(Pelton::Memcached::InvalidKeyError) { cache.fetch("a b") { flunk } }
    assert_raises(TypeError) { cache.fetch(nil) { flunk } }
    assert_raises(TypeError) { cache.fetch("k") { 7 } }
  end
end
