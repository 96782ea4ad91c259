# frozen_string_literal: true

require_relative "helper"

class EventMachineTimersTest < EventMachineTest
  def test_timers_come_by_their_time_and_equal_ones_in_order
    log = []
    em do
      EM.add_timer(0.02) { EM.stop }
      EM.add_timer(0.01) { log << 3 }
      EM.add_timer(0) { log << 1 }
      EM.add_timer(-1) { log << 2 }
    end

    assert_equal [1, 2, 3], log
  end

  def test_a_cancelled_timer_is_not_called
    log = []
    em do
      second = nil
      EM.add_timer(0.001) { EM.cancel_timer(second) }
      second = EM.add_timer(0.002) { log << :never }
      EM.cancel_timer(EM.add_timer(0.001) { log << :never })
      EM.cancel_timer(EM::Timer.new(0.001) { log << :never })
      EM.cancel_timer(-1)
      EM.add_timer(0.01) { EM.stop }
    end

    assert_empty log
  end

  def test_a_periodic_timer_goes_on_until_it_is_cancelled
    count = 0
    em do
      timer = EM.add_periodic_timer(0.001) do
        timer.interval = 0.002
        next unless (count += 1) == 3
        timer.cancel
        EM.add_timer(0.01) { EM.stop }
      end
    end

    assert_equal 3, count
  end

  def test_timers_are_armed_from_other_threads
    log = []
    em do
      Thread.new do
        EM.cancel_timer(EM.add_timer(0.001) { log << :never })
        EM.add_timer(0.002) do
          log << EM.reactor_thread?
          EM.stop
        end
      end
    end

    assert_equal [true], log
  end

  def test_no_timer_outlives_its_loop
    before = Pelton.stats[:timers]
    em do
      EM.add_timer(60) { flunk }
      EM.add_periodic_timer(60) { flunk }
      assert_equal 3, EM.get_timer_count
      EM.stop
    end

    assert_equal 0, EM.get_timer_count
    assert_equal before, Pelton.stats[:timers]
  end

  def test_what_unbind_arms_at_the_end_is_not_called
    log = []
    em do
      EM.connect("127.0.0.1", serve, handler(
        connection_completed: -> { EM.stop },
        unbind: -> { EM.add_timer(0) { log << :timer } && EM.next_tick { log << :tick } }
      ))
    end
    em { EM.add_timer(0.01) { EM.stop } }

    assert_empty log
  end

  def test_there_is_a_limit
    before = EM.get_max_timers
    EM.set_max_timers(2)
    error = assert_raises(RuntimeError) { EM.run { 3.times { EM.add_timer(1) {} } } }

    assert_match(/max timers exceeded/, error.message)
    em do
      assert_raises(RuntimeError) { EM.set_max_timers(3) }
      EM.stop
    end
  ensure
    EM.set_max_timers(before)
  end

  def test_outside_run_there_is_none
    assert_raises(RuntimeError) { EM.add_timer(0) {} }
  end
end
