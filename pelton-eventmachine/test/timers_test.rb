# frozen_string_literal: true

require_relative "helper"

class EventMachineTimersTest < EventMachineTest
  def test_timers_fire_in_order_of_time_and_then_of_creation
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

  def test_a_periodic_timer_fires_until_it_is_cancelled
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

  def test_other_threads_may_add_timers
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

  def test_timers_and_ticks_of_the_last_unbind_are_not_called
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

  def test_the_number_of_timers_is_limited
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

  def test_adding_a_timer_outside_run_raises
    assert_raises(RuntimeError) { EM.add_timer(0) {} }
  end
end
