# frozen_string_literal: true

require "test_helper"
require "pelton/memcached"
require "pelton/web"
require_relative "../../../../test/support/memcached_process"
require_relative "../../../../test/support/captured_log"

class WebRateLimitCountTest < PeltonTest
  include CapturedLog

  RateLimit = Pelton::Web::RateLimit

  def memory = RateLimit::Memory.new(Pelton::SharedCounters.new)

  def count(store = memory, requests: 2, seconds: 60, **options)
    RateLimit::Count.new(store, requests: requests, seconds: seconds, **options)
  end

  def test_requests_beyond_the_limit
    count = self.count
    2.times { count.add("a") }
    error = assert_raises(RateLimit::Exceeded) { count.add("a") }

    assert_equal 429, error.status
    assert_equal({"retry-after" => "60"}, error.headers)
    assert_nil count.add("b")
  end

  def test_counts_of_another_name_are_others
    store = memory
    2.times { count(store).add("a") }
    count(store, name: "other").add("a")

    assert_raises(RateLimit::Exceeded) { count(store).add("a") }
  end

  def test_a_store_that_fails
    store = Class.new { def incr(*, **) = raise(Pelton::TimeoutError) }.new

    assert_nil count(store).add("a")
    assert_equal 503, assert_raises(RateLimit::Unavailable) { count(store, failure: :refuse).add("a") }.status
    assert_match(/requests are not counted: Pelton::TimeoutError/, log)
  end

  def test_addresses
    {"203.0.113.9" => "203.0.113.9", "2001:db8::1" => "2001:db8::", "2001:db8::ffff:2" => "2001:db8::",
     "::ffff:203.0.113.9" => "203.0.113.9", ":x" => ":x", nil => ""}.each do |given, client|
      assert_equal client, RateLimit::Count.address("REMOTE_ADDR" => given), given
    end
  end

  # Fibers, processes and machines count together, also what could not be a key of memcached.
  def test_memcached_counts
    with_memcached do |port|
      store = Pelton::Memcached::Client.new("127.0.0.1:#{port}")
      add = lambda do |_|
        count(store, requests: 10).add("a") || :passed
      rescue RateLimit::Exceeded
        :refused
      end
      all = Pelton.run { Pelton.map(Array.new(50), &add) }

      assert_equal({passed: 10, refused: 40}, all.tally)
      ["a\r\nflush_all", "é".b * 200, "a b"].each { |client| assert_nil count(store, requests: 1).add(client), client }
    ensure
      store&.close
    end
  end

  def test_a_memcached_that_hangs
    memcached = MemcachedProcess.new
    count = self.count(store = Pelton::Memcached::Client.new(memcached.address), timeout: 0.05)
    count.add("a")
    memcached.freeze_up

    assert_nil count.add("a")
    assert_match(/not counted/, log)
  ensure
    store&.close
    memcached&.kill
  end
end
