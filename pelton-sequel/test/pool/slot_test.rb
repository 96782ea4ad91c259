# frozen_string_literal: true

require_relative "../support/sequel_databases"

class PoolSlotTest < PeltonTest
  include SequelDatabases

  def test_who_holds_it_where_and_in_which_state
    database = connect
    slot = Pelton::Sequel::Pool::Slot.new(nil)
    fiber = Fiber.new { hold_here(database) }
    fiber.resume
    slot.fiber = fiber
    slot.since = 10.0

    assert_match(/\Afiber #{fiber.object_id} for 1\.500 s, at .*slot_test.rb:\d+:in /, slot.inspect_holder(11.5))
    slot.busy = "SELECT 1"
    assert_match(/, in a query, at /, slot.inspect_holder)
  end

  def test_a_fiber_of_another_thread_and_a_dead_one
    slot = Pelton::Sequel::Pool::Slot.new(nil)
    slot.since = Pelton::Clock.now
    Thread.new { slot.fiber = Fiber.current }.join
    assert_match(/\Afiber \d+ for 0\.\d+ s/, slot.inspect_holder)
    slot.fiber = Fiber.new {}.tap(&:resume)

    assert_match(/\Afiber \d+ for 0\.\d+ s\z/, slot.inspect_holder)
  end

  private

  def hold_here(database) = database.synchronize { Fiber.yield }
end
