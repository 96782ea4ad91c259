# frozen_string_literal: true

require_relative "helper"

class EventMachineTicksTest < EventMachineTest
  def test_ticks_come_in_order_and_before_the_timers_that_are_armed_with_them
    log = []
    em do
      EM.next_tick do
        log << 1
        EM.next_tick do
          log << 3
          EM.stop
        end
        EM.add_timer(0) { log << :timer }
      end
      EM.next_tick { log << 2 }
    end

    assert_equal [1, 2, :timer, 3], log
  end

  def test_what_is_given_before_run_waits_for_it
    log = []
    EM.next_tick { log << :early }
    em do
      log << :block
      EM.next_tick { EM.stop }
    end

    assert_equal [:block, :early], log
  end

  def test_it_wants_something_to_call
    assert_raises(ArgumentError) { EM.next_tick }
    assert_raises(ArgumentError) { EM.next_tick(1) }
  end

  def test_schedule_runs_at_once_in_the_loop_and_later_from_a_thread
    log = []
    em do
      EM.schedule { log << :at_once }
      log << :then
      Thread.new do
        EM.schedule do
          log << EM.reactor_thread?
          EM.stop
        end
      end.join
      log << :joined
    end

    assert_equal [:at_once, :then, :joined, true], log
  end

  def test_a_tick_loop_goes_on_until_it_is_told_to_stop
    count = 0
    stopped = []
    em do
      work = EM.tick_loop { ((count += 1) == 3) ? :stop : nil }
      work.on_stop { stopped << work.stopped? }
      work.on_stop { EM.stop }
    end

    assert_equal 3, count
    assert_equal [true], stopped
  end

  def test_a_tick_loop_is_started_once_and_tells_late_comers_at_once
    work = EM::TickLoop.new { :stop }
    told = false
    work.on_stop { told = true }

    assert told
    work.start
    assert_raises(ArgumentError) { work.start }
    EM.run_block {}
  end
end
