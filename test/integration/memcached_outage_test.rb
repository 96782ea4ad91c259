# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/memcached_process"
require "pelton/memcached"

# One server of five fails while fifty fibers use all five.
class MemcachedOutageTest < PeltonTest
  self.deadline = 120

  Memcached = Pelton::Memcached
  TIMEOUT = 2 # seconds; enough for a running server even on a busy machine
  # Seconds after which an operation that is still pending has missed its own deadline.
  FAR_TOO_LONG = 40

  def setup
    @servers = Array.new(5) { MemcachedProcess.new }
    @ring = Memcached::HashRing.new(@servers.map(&:address))
    @errors = Hash.new { |all, index| all[index] = [] }
    @answers = Hash.new(0)
    @stored = {}
  end

  def teardown
    @servers.each(&:kill)
  end

  def test_a_server_is_killed
    with_load(failover: false) do
      before = @answers.dup
      @servers[2].kill
      sleep 0.01 until @errors[2].any?(Memcached::DownError) && others_answered?(before)
    end

    assert_empty @errors.keys - [2], "errors of servers that were running"
    assert_empty @errors[2].reject(&:retriable?)
  end

  def test_a_server_is_killed_and_others_take_its_keys
    with_load(failover: true) do
      @servers[2].kill
      sleep 0.01 until @errors[2].any?
      failed = @errors[2].size
      before = @answers.dup
      sleep 0.01 until @answers[2] > before[2] + 100
      assert_operator @errors[2].size - failed, :<=, 150, "only the pending operations of fifty fibers on three connections were to fail"
      @servers[2].start
      before = @answers.dup
      sleep 0.01 until @answers[2] > before[2] + 100 && others_answered?(before)
    end

    assert_empty @errors.keys - [2]
  end

  def test_a_server_freezes
    with_load(failover: false) do
      before = @answers.dup
      @servers[2].freeze_up
      sleep 0.01 until @errors[2].size > 20
      assert others_answered?(before), "others waited for it as well"
      @servers[2].thaw
      before = @answers.dup
      sleep 0.01 until @answers[2] > before[2] + 10
    end

    assert_empty @errors.keys - [2]
    assert(@errors[2].any?(Pelton::TimeoutError))
  ensure
    @servers[2].thaw
  end

  private

  def others_answered?(before) = [0, 1, 3, 4].all? { |index| @answers[index] > before[index] + 20 }

  # Runs the block beside fifty fibers, each of which stores and gets keys of its own.
  def with_load(**options)
    over = false
    Pelton.run do
      cache = Memcached::Client.new(@servers.map(&:address), timeout: TIMEOUT, retry_after: 0.05, **options)
      fibers = Array.new(50) do |number|
        Pelton.spawn { use(cache, "fiber-#{number}") until over }
      end
      yield
      over = true
      fibers.each(&:await)
    end
  end

  def use(cache, name)
    key = "#{name}-#{rand(20)}"
    index = @ring.index(key)
    Pelton.timeout(FAR_TOO_LONG) { rand(2).zero? ? store(cache, key) : look(cache, key) }
    @answers[index] += 1
  rescue Pelton::TimeoutError, Pelton::ConnectionError => error
    raise if error.message.include?("#{FAR_TOO_LONG} s")
    @errors[index] << error
    sleep 0.005 # operations that fail at once would keep the loop busy
  end

  def store(cache, key)
    value = "#{key}:#{rand(1 << 30)}"
    (@stored[key] ||= []) << value
    cache.set(key, value)
  end

  # The effect of a failed operation is unknown, and a server that was out of reach may have an older value. But
  # the other servers always have the last value.
  def look(cache, key)
    value = cache.get(key)
    stored = @stored[key] || []
    return assert_includes [nil, *stored], value if @ring.index(key) == 2
    value ? assert_equal(stored.last, value) : assert_empty(stored)
  end
end
