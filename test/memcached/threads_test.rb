# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../shared/memcached_styles"
require_relative "../support/fault_proxy"

# One client, used by several threads, by children after a fork, and by fibers that are cancelled.
class MemcachedThreadsTest < PeltonTest
  include MemcachedStyles::Common

  WORK = lambda do |cache, name|
    100.times do |i|
      cache.set("#{name}-#{i % 10}", "#{name} #{i}")
      raise "a wrong value" unless cache.get("#{name}-#{i % 10}") == "#{name} #{i}"
    end
    cache.get_multi((0...10).map { |i| "#{name}-#{i}" }).values
  end

  def expected(name) = (90...100).map { |i| "#{name} #{i}" }

  def test_threads_with_and_without_a_reactor
    FaultProxy.start(with_memcached) do |proxy|
      cache = client("127.0.0.1:#{proxy.port}")
      threads = Array.new(8) do |i|
        Thread.new { i.even? ? WORK.call(cache, "thread-#{i}") : Pelton.run { WORK.call(cache, "thread-#{i}") } }
      end

      assert_equal Array.new(8) { |i| expected("thread-#{i}") }, threads.map(&:value)
      assert_equal 8, proxy.accepted
      cache.set("k", "v")
      eventually("the end of the dead threads' connections") { proxy.connections == 1 }
    end
  end

  # The parent has pending replies. The child must neither take them nor close the parent's connection.
  def test_children_open_connections_of_their_own
    with_memcached
    cache = client
    parents = []
    Pelton.run do
      cache.set("parent", "p")
      20.times { cache.get("parent") { |value| parents << value } }
      reader, writer = IO.pipe
      pid = fork do
        writer.write(Marshal.dump([WORK.call(cache, "child"), Pelton.run { WORK.call(cache, "reactor") }]))
        writer.close
        exit!(0)
      end
      writer.close
      assert_equal [expected("child"), expected("reactor")], Marshal.load(reader.read)
      Process.wait(pid)
      assert_equal "p", cache.get("parent")
    end

    assert_equal ["p"] * 20, parents
  end

  def test_children_of_a_process_that_only_blocks
    with_memcached
    cache = client
    cache.set("k", "v")
    children = Array.new(3) { |i| fork { exit!(WORK.call(cache, "child-#{i}") == expected("child-#{i}")) } }

    assert_equal [true] * 3, children.map { |pid| Process.wait2(pid).last.success? }
    assert_equal "v", cache.get("k")
  end

  # The reply to a cancelled fiber is dropped, and the next fiber gets its own.
  def test_replies_to_cancelled_fibers_are_dropped
    FaultProxy.start(with_memcached) do |proxy|
      cache = client("127.0.0.1:#{proxy.port}")
      Pelton.run do
        10.times { |i| cache.set("key-#{i}", i.to_s) }
        proxy.stall!
        tasks = Array.new(10) { |i| Pelton.spawn { cache.get("key-#{i}") } }
        Pelton::Reactor.current.yield
        tasks.each_with_index { |task, i| task.cancel if i.odd? }
        proxy.resume

        assert_equal %w[0 2 4 6 8], tasks.each_slice(2).map { |task, _| task.await }
        assert_equal "7", cache.get("key-7")
      end
      assert_equal 1, proxy.accepted
    end
  end

  # A late reply must not be taken for another caller's: a well-known bug of clients.
  def test_replies_to_interrupted_callers_are_dropped
    FaultProxy.start(with_memcached) do |proxy|
      cache = client("127.0.0.1:#{proxy.port}")
      values = (0...10).to_h { |i| ["key-#{i}", i.to_s] }
      cache.set_multi(values)
      [->(&block) { block.call }, Pelton.method(:run)].each do |within|
        within.call do
          cache.get("key-0")
          proxy.stall!
          assert_raises(Timeout::Error) { Timeout.timeout(0.02) { cache.get("key-1") } }
          assert_raises(Timeout::Error) { Timeout.timeout(0.02) { cache.get_multi("key-2", "key-3") } }
          assert_raises(Timeout::Error) { Timeout.timeout(0.02) { cache.set("key-4", "4") } }
          proxy.resume

          assert_equal values, values.keys.to_h { |key| [key, cache.get(key)] }
          assert_equal values, cache.get_multi(values.keys)
        end
      end
    end
  end

  def test_a_thread_that_is_killed_while_it_waits
    FaultProxy.start(with_memcached) do |proxy|
      cache = client("127.0.0.1:#{proxy.port}")
      cache.set("k", "v")
      thread = Thread.new do
        cache.get("k")
        proxy.stall!
        cache.get("k")
      end
      eventually("its wait") { thread.status == "sleep" }
      thread.kill.join
      proxy.resume

      assert_equal "v", cache.get("k")
    end
  end
end
