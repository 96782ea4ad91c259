# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "pelton"

# Pelton.run: its value, nesting, threads, and what keeps it running.
class RunTest < PeltonTest
  include EventLog

  def test_run_returns_the_blocks_value_when_nothing_is_left
    value = Pelton.run do
      Pelton.spawn { sleep(0.002) && @log << :task }
      Pelton.add_timer(0.001) { @log << :timer }
      Pelton.next_tick { @log << :tick }
      :value
    end

    assert_equal :value, value
    assert_equal %i[tick timer task], @log
  end

  def test_run_needs_a_block
    assert_raises(ArgumentError) { Pelton.run }
    assert_raises(ArgumentError) { Pelton.run { Pelton.next_tick } }
  end

  def test_run_can_be_called_again_and_again
    assert_equal [0, 1, 2], Array.new(3) { |i| Pelton.run { sleep(0.0001) && i } }
    assert_equal 0, Pelton.stats[:parked]
    assert_nil Fiber.scheduler
    refute_predicate Pelton, :running?
  end

  def test_a_nested_run_runs_its_block_and_nothing_else
    value = Pelton.run do
      Pelton.next_tick { @log << :tick }
      inner = Pelton.run { (@log << :inner) && :value }
      @log << :after
      inner
    end

    assert_equal :value, value
    assert_equal %i[inner after tick], @log
  end

  def test_run_works_inside_a_fiber_an_enumerator_and_a_thread
    assert_equal 1, Fiber.new { Pelton.run { sleep(0.001) && 1 } }.resume
    assert_equal 2, Enumerator.new { |values| values << Pelton.run { Fiber.schedule { sleep 0.001 } && 2 } }.next
    assert_equal 3, Thread.new { Pelton.run { Fiber.schedule { sleep 0.001 } && 3 } }.value
  end

  def test_another_scheduler_is_refused
    other = Object.new
    %i[block unblock kernel_sleep io_wait fiber close].each { |name| other.define_singleton_method(name) { |*| nil } }
    error = Thread.new {
      Fiber.set_scheduler(other)
      assert_raises(Pelton::Error) { Pelton.run { flunk } }
    }.value

    assert_match(/another fiber scheduler/, error.message)
  end

  def test_the_scheduler_cannot_be_changed_inside_run
    Pelton.run { assert_raises(Pelton::Error) { Fiber.set_scheduler(nil) } }
  end

  def test_the_grace_time_is_a_number_of_seconds
    assert_raises(TypeError) { Pelton.run(grace: "5") {} }
    assert_raises(ArgumentError) { Pelton.run(grace: Float::NAN) {} }
    assert_equal 1, Pelton.run(grace: Float::INFINITY) { 1 }
    refute_predicate Pelton, :running?
  end
end
