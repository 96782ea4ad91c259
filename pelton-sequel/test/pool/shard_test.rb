# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"

# With connections that are plain objects.
class PoolShardTest < PeltonTest
  # What a shard asks of its pool.
  class Connections
    attr_reader :opened, :closed
    attr_accessor :failing, :unusable

    def initialize
      @opened = @closed = 0
    end

    def open(slot, _server)
      raise Pelton::Sequel::ConnectionError, "refused" if failing
      slot.opened = Pelton::Clock.now
      slot.connection = Object.new
      @opened += 1
    end

    def usable?(_connection) = !unusable
    def close(_connection) = @closed += 1
    def lost(slot) = close(slot.connection)

    def discard(_slot)
      @closed += 1
      yield
    end
  end

  def setup
    @connections = Connections.new
    @shard = Pelton::Sequel::Pool::Shard.new(@connections, :default, 2, 0.05, 300)
  end

  def test_a_connection_that_cannot_be_opened_frees_its_place
    @connections.failing = true
    Pelton.run do
      3.times { assert_raises(Pelton::Sequel::ConnectionError) { @shard.take(Fiber.current) } }
      @connections.failing = false
      @shard.give(@shard.take(Fiber.current))
    end

    assert_equal 1, @shard.size
    assert_equal 1, @shard.idle
    assert_equal 0, @shard.in_use
  end

  # A fiber that waits gets the place of a connection that is thrown away, and opens its own.
  def test_a_spoiled_connection_leaves_its_place_to_who_waits
    Pelton.run do
      slots = [Fiber.new {}, Fiber.new {}].map { |fiber| @shard.take(fiber) }
      waiting = Pelton.spawn { @shard.take(Fiber.current) }
      sleep 0
      slots.first.spoiled = true
      @shard.give(slots.first)

      refute_same slots.first.connection, waiting.await.connection
    end

    assert_equal 3, @connections.opened
    assert_equal 1, @connections.closed
    assert_equal 2, @shard.size
  end

  def test_a_connection_that_was_idle_for_long_is_checked
    slot = @shard.take(Fiber.current)
    @shard.give(slot)
    slot.since -= Pelton::Sequel::Pool::Shard::CHECK_AFTER + 1
    @connections.unusable = true

    assert_same slot, @shard.take(Fiber.current)
    assert_equal 2, @connections.opened
    assert_equal 1, @connections.closed
    assert_equal 1, @shard.size
  end

  def test_idle_connections_are_dropped_when_one_was_lost
    slots = [Fiber.new {}, Fiber.new {}].map { |fiber| @shard.take(fiber) }
    @shard.give(slots.last)
    @shard.distrust(slots.first)

    assert_equal 1, @shard.size
    assert_equal 0, @shard.idle
    assert_equal 1, @connections.closed
  end

  def test_times_are_counted
    Pelton.run { @shard.take(Fiber.current).then { |slot| sleep(0.002) && @shard.give(slot) } }

    assert_equal 1, @shard.taken
    assert_equal 0, @shard.waits
    assert_equal 0, @shard.timeouts
    assert_equal 1, @shard.uses
    assert_equal 1, @shard.created
    assert_operator @shard.use_time, :>, 0.001
  end

  # Nor does one that still holds it, or still waits.
  def test_a_wait_in_vain_does_not_count_as_a_use
    Pelton.run do
      slots = [Fiber.new {}, Fiber.new {}].map { |fiber| @shard.take(fiber) }
      assert_raises(Pelton::Sequel::PoolTimeoutError) { @shard.take(Fiber.current) }

      assert_equal 3, @shard.taken
      assert_equal 0, @shard.uses
      slots.each { |slot| @shard.give(slot) }
    end

    assert_equal 3, @shard.taken
    assert_equal 2, @shard.uses
    assert_equal 1, @shard.timeouts
  end
end
