# frozen_string_literal: true

require_relative "../helper"
require "support/fault_proxy"

class EventMachineMemcacheTest < EventMachineTest
  def setup
    @log = []
  end

  def test_stored_values_come_back
    cached do |cache|
      cache.set(:a, "hello") { |*answer| @log << answer }
      cache.set("n", 5)
      cache.get(:a) { |*values| @log << values }
      cache.get(:a, :z, "n") { |*values| @log << values }
      cache.get_hash(:a, :z) { |*values| @log << values }
      cache.get { |*values| @log << values }
      cache.del(:a) { |*answer| @log << answer }
      cache.delete(:a) { |*answer| @log << answer }
      cache.get(:a) { |*values| EM.stop.then { @log << values } }
    end

    assert_equal [[], [true], ["hello"], ["hello", nil, "5"], [{a: "hello", z: nil}], [true], [false], [nil]],
      @log.sort_by { |one| one.empty? ? 0 : 1 }
  end

  def test_values_are_binary
    cached { |cache| cache.set(:u, "\u221A").get(:u) { |value| EM.stop.then { @log << value } } }

    assert_equal ["\u221A".b], @log
  end

  def test_a_time_of_more_than_30_days_is_a_date
    day = 24 * 60 * 60
    expected = {ended: nil, over: nil, later: "x", day: "x", told: nil}
    cached do |cache|
      cache.set(:ended, "x", Time.now.to_i - day)
      cache.set(:over, "x", -1)
      cache.set(:later, "x", Time.now.to_i + day)
      cache.set(:day, "x", day)
      cache.set(:told, "x", -1) {} # with a block it is another command
      cache.get(*expected.keys) { |*values| EM.stop.then { @log = values } }
    end

    assert_equal expected, expected.keys.zip(@log).to_h
  end

  def test_a_value_that_the_server_refuses_is_not_stored
    cached do |cache|
      cache.set(:big, "x" * 2_000_000) { |stored| @log << stored }
      cache.get(:big) { |value| EM.stop.then { @log << value } }
    end

    assert_equal [false, nil], @log
  end

  def test_an_invalid_key_counts_as_absent
    cached do |cache|
      cache.set("a", "x")
      cache.set("a b", "x") { |stored| @log << stored }
      cache.delete("k" * 300) { |deleted| @log << deleted }
      cache.set("a\r\nflush_all", "x")
      cache.get("a b", "a", "a\r\nb") { |*values| EM.stop.then { @log << values } }
    end

    assert_equal [false, false, [nil, "x", nil]], @log
  end

  def test_get_needs_a_block
    cached do |cache|
      assert_raises(ArgumentError) { cache.get("a") }
      assert_raises(ArgumentError) { cache.get_hash("a") }
      EM.stop
    end
  end

  def test_it_is_a_connection_and_a_deferrable
    cached do |cache|
      assert_kind_of EM::Connection, cache
      assert_kind_of EM::P::Memcache, cache
      cache.callback { |*values| EM.stop.then { @log << values } }
    end

    assert_equal [[]], @log
  end

  def test_errors_of_callbacks_reach_the_error_handler
    EM.error_handler { |error| EM.stop.then { @log << error.message } }
    cached { |cache| cache.get(:a) { raise "mine" } }

    assert_equal ["mine"], @log
  end

  def test_a_callback_may_wait
    cached do |cache|
      cache.get(:a) do
        sleep 0.001
        EM.stop.then { @log << :waited }
      end
    end

    assert_equal [:waited], @log
  end

  def test_a_missing_server_ends_the_loop
    port = free_port
    error = assert_raises(RuntimeError) do
      em { EM::P::Memcache.connect("127.0.0.1", port).errback { |failure| @log << failure.class } }
    end

    assert_equal "Unable to connect to memcached server", error.message
    assert_equal [Pelton::ConnectionError], @log
    assert_raises(RuntimeError) { EM::P::Memcache.connect }
  end

  def test_pending_requests_are_sent_again_after_a_broken_connection
    FaultProxy.start(with_memcached) do |proxy|
      em do
        cache = EM::P::Memcache.connect("127.0.0.1", proxy.port)
        cache.set(:a, "kept") do
          proxy.cut!
          cache.get(:a) { |value| @log << value }
          cache.get(:a) { |value| EM.stop.then { @log << value } }
        end
      end
    end

    assert_equal %w[kept kept], @log
  end

  def test_a_closed_client_connects_again
    cached do |cache|
      cache.close_connection
      EM.next_tick { EM.next_tick { cache.get(:a) { EM.stop.then { @log << :answered } } } }
    end

    assert_equal [:answered], @log
  end

  def test_a_handler_of_its_own_may_include_it
    type = Class.new(EM::Connection) { include EM::P::Memcache }
    with_memcached do |port|
      em { EM.connect("127.0.0.1", port, type, "127.0.0.1", port).set(:a, "b") { EM.stop.then { @log << :stored } } }
    end

    assert_equal [:stored], @log
  end

  private

  def cached
    with_memcached { |port| em { yield EM::P::Memcache.connect("127.0.0.1", port) } }
  end
end
