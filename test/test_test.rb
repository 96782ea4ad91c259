# frozen_string_literal: true

require_relative "test_helper"
require "pelton/test"

class TestTest < PeltonTest
  include Pelton::Test

  def test_a_block_runs_in_a_reactor
    assert_equal [true, 1], in_reactor { [Pelton.running?, Pelton.spawn { sleep(0) && 1 }.await] }
    refute_predicate Pelton, :running?
  end

  def test_its_error_is_raised
    assert_raises(IOError) { in_reactor { raise IOError } }
    assert_raises(Minitest::Assertion) { in_reactor { flunk } }
  end

  def test_an_error_that_nobody_rescued_is_raised
    assert_raises(IOError) { in_reactor { Pelton.next_tick { raise IOError } && sleep(0.001) } }
    assert_raises(EOFError) { in_reactor { Pelton.spawn { raise EOFError } && nil } }
  end

  def test_the_handler_of_such_errors_is_kept
    Pelton.on_error(&handler = proc {})
    in_reactor {}

    assert_same handler, Pelton.on_error
  end

  def test_its_time_is_limited
    assert_raises(Pelton::TimeoutError) { in_reactor(timeout: 0.001) { sleep } }
  end

  def test_nothing_may_be_left_behind_unless_that_is_said
    ended = 0
    leave = lambda do
      Pelton.spawn do
        sleep
      ensure
        ended += 1
      end
      turn
    end
    error = assert_raises(Pelton::Test::Leftover) { in_reactor(&leave) }

    assert_match(/\A1 fiber\(s\) still wait:\n\n.*#{__FILE__}:\d+/, error.message)
    in_reactor(leftovers: true, &leave)
    assert_equal 2, ended
  end

  def test_a_task_that_is_about_to_end_is_no_leftover
    in_reactor do
      queue = Queue.new
      Pelton.spawn { queue.pop }
      sleep 0
      queue << 1
    end
  end

  def test_a_transient_task_is_no_leftover
    in_reactor { Pelton.spawn(transient: true) { sleep } && turn }
  end

  def test_an_error_that_is_awaited_later_fails_no_test
    in_reactor do
      tasks = Array.new(2) { Pelton.spawn { sleep(0.001) && raise(IOError) } }
      tasks.each { |task| assert_raises(IOError) { task.await } }
    end
  end

  def test_turn_lets_the_others_run
    order = []
    in_reactor do
      Pelton.next_tick { (order << 1) && Pelton.next_tick { order << 2 } }
      turn
      order << :first
      turn(2)
      order << :second
    end

    assert_equal [1, :first, 2, :second], order
  end

  def test_eventually_waits_for_something_true
    in_reactor do
      value = nil
      Pelton.add_timer(0.002) { value = :set }

      assert_equal :set, eventually { value }
      assert_raises(Pelton::TimeoutError) { eventually(timeout: 0.001) { false } }
    end
  end

  def test_stall_stops_everybody
    ticks = 0
    in_reactor(leftovers: true) do
      Pelton.spawn { loop { (ticks += 1) && sleep(0) } }
      sleep 0.001
      before = ticks
      stall(0.001)

      assert_equal before, ticks
    end
  end

  # The stall ends when the watchdog has reported it.
  def test_stalls_returns_the_stalls_that_the_watchdog_notices
    reader, writer = IO.pipe
    Pelton.logger = writer
    before = Pelton.watchdog
    in_reactor do
      found = stalls(threshold: STRESS ? 1 : 0.005) { blocking { IO.select([reader]) } }

      assert_equal 1, found.size
      assert_match(/in `select'/, found.first.backtrace.first)
      assert_empty stalls(threshold: 3600) {}
    end
    assert_same before, Pelton.watchdog
  ensure
    Pelton.logger = $stderr
    [reader, writer].each(&:close)
  end
end
