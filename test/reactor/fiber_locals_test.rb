# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

# Which fiber-locals of each other callbacks, tasks and run's caller see.
class FiberLocalsTest < PeltonTest
  NAMES = %i[a b c d].freeze
  NONE = [nil] * 4

  def setup
    @seen = []
    @gate = Queue.new
  end

  def teardown
    NAMES.each { |name| Thread.current[name] = nil }
    super
  end

  # ---- carried

  def test_a_callback_sees_what_the_last_one_set_on_whatever_fiber_it_ran
    fibers = []
    carried do
      callback { (fibers << Fiber.current) && set(a: 1) }
      callback { @gate.pop }
      callback { (fibers << Fiber.current) && see && set(a: 2) }
      callback { see }
      @gate << :open
    end

    refute_same(*fibers)
    assert_equal [[1, nil, nil, nil], [2, nil, nil, nil]], @seen
  end

  def test_a_callback_that_waits_keeps_its_set_and_shares_its_changes_afterwards
    carried do
      callback do
        set(a: 1)
        @gate.pop
        see
        set(c: 3)
      end
      callback { see && set(b: 2) }
      open_gate
      callback { see }
    end

    assert_equal [[1, nil, nil, nil], [1, nil, nil, nil], [1, 2, 3, nil]], @seen
  end

  def test_the_last_change_and_deletions_are_seen
    carried do
      callback { set(a: :old, b: :old, c: :old) }
      callback { @gate.pop && set(a: nil, b: :resumed) }
      callback { set(b: :meanwhile, c: :meanwhile, d: :meanwhile) }
      open_gate
      callback { see }
    end

    assert_equal [[nil, :resumed, :meanwhile, :meanwhile]], @seen
  end

  def test_a_callback_may_wait_again_and_again
    carried do
      callback { NAMES.each { |name| set(name => name) && @gate.pop } }
      NAMES.each { callback { see } && open_gate }
    end

    assert_equal [[:a], %i[a b], %i[a b c], %i[a b c d]], @seen.map(&:compact)
  end

  def test_the_callers_set_is_seen_inside_and_the_last_set_by_the_caller
    set(a: :caller, b: :caller)
    carried do
      set(b: nil)
      callback { see && set(c: :inside) }
      see
    end

    assert_equal [[:caller, nil, nil, nil]] * 2, @seen, "run's block has waited, and keeps its own"
    assert_equal [:caller, nil, :inside, nil], locals
  end

  def test_one_run_leaves_nothing_to_the_next
    carried { 2.times { callback { set(a: 1) && @gate.pop } } && 2.times { open_gate } }
    set(a: nil)
    Pelton.run { 3.times { callback { set(b: 1) && @gate.pop } } && 3.times { open_gate } }

    carried { 4.times { callback { see && @gate.pop } } && 4.times { open_gate } }
    assert_equal [NONE] * 4, @seen
  end

  def test_a_users_fiber_has_its_own_set_and_may_wait
    carried do
      callback { set(a: 1) }
      callback do
        set(b: 2)
        Fiber.new { see && set(c: 3) && @gate.pop }.resume
        see
      end
      callback { set(d: 4) }
      open_gate
      callback { see }
    end

    assert_equal [NONE, [1, 2, nil, nil], [1, 2, nil, 4]], @seen
  end

  def test_scheduled_fibers_start_with_none
    carried do
      set(a: 1)
      Fiber.schedule { see }
      see
    end

    assert_equal [NONE, [1, nil, nil, nil]], @seen
  end

  def test_a_nested_run_may_ask_for_carrying
    set(a: :caller)
    Pelton.run do
      carried { set(b: 1) }
      callback { see }
      set(b: 2)
    end

    assert_equal [[nil, 1, nil, nil]], @seen
    assert_equal [:caller, nil, nil, nil], locals
  end

  # ---- tasks

  def test_carried_or_not_a_task_has_its_own_set
    [true, false].each do |carries|
      Pelton.run(carry_locals: carries) do
        set(a: 1)
        Pelton.spawn { see && set(b: 2) && @gate.pop && see }
        callback { set(c: 3) }
        open_gate
        see
      end
    end

    assert_equal [NONE, [nil, 2, nil, nil], [1, nil, nil, nil]] * 2, @seen
  end

  def test_a_task_finds_nothing_of_earlier_callbacks_on_its_fiber
    fibers = []
    Pelton.run do
      callback { set(a: 1) && fibers << Fiber.current }
      2.times { Pelton.spawn { see && set(b: 2) && fibers << Fiber.current }.await }
    end

    assert_equal 1, fibers.uniq.size
    assert_equal [NONE] * 2, @seen
  end

  def test_without_carrying_the_callers_set_is_not_seen_and_not_changed
    set(a: :caller)
    Pelton.run { see && set(b: 1) }

    assert_equal [NONE], @seen
    assert_equal [:caller, nil, nil, nil], locals
  end

  # ---- a clean set

  def test_a_clean_set_for_a_block_and_the_present_one_afterwards
    Pelton.run do
      set(a: 1)
      value = clean {
        see
        set(b: 2)
        see
        :value
      }
      assert_equal :value, value
      see
      assert_raises(IOError) { clean { set(c: 3) && raise(IOError) } }
      see
    end

    assert_equal [NONE, [nil, 2, nil, nil], [1, nil, nil, nil], [1, nil, nil, nil]], @seen
  end

  def test_a_clean_set_is_not_carried_to_the_callbacks_that_run_meanwhile
    carried do
      callback do
        set(a: 1)
        clean do
          set(b: :request)
          @gate.pop
          clean { see && set(c: :inner) && @gate.pop }
          see
        end
        see
      end
      callback { see && set(d: 4) }
      open_gate
      callback { see }
      open_gate
      callback { see }
    end

    assert_equal [[1, nil, nil, nil], NONE, [1, nil, nil, 4], [nil, :request, nil, nil], [1, nil, nil, nil],
      [1, nil, nil, 4]],
      @seen
  end

  private

  def carried(&block) = Pelton.run(carry_locals: true, &block)

  def clean(&block) = Pelton::Reactor.current.with_clean_locals(&block)

  # Calls the block in a callback, and returns when the block has ended or waits.
  def callback(&block)
    Pelton.next_tick(&block)
    Pelton::Reactor.current.yield
    true
  end

  # Lets a callback that waits at the gate go on, and returns when it has ended or waits again.
  def open_gate
    @gate << :open
    Pelton::Reactor.current.yield
  end

  def locals = NAMES.map { |name| Thread.current[name] }

  def set(values) = values.each { |name, value| Thread.current[name] = value }

  def see = @seen << locals
end
