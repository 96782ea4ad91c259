# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class TimerTest < PeltonTest
  def setup
    @log = []
  end

  def teardown
    Pelton.on_error
  end

  def test_timers_fire_in_the_order_of_their_time
    Pelton.run do
      [0.1, 0.001, 0.05].each { |seconds| Pelton.add_timer(seconds) { @log << seconds } }
    end

    assert_equal [0.001, 0.05, 0.1], @log
  end

  def test_timers_of_the_same_time_fire_in_the_order_in_which_they_were_made
    Pelton.run { 100.times { |i| Pelton.add_timer(0) { @log << i } } }

    assert_equal (0...100).to_a, @log
  end

  def test_a_negative_time_is_not_earlier_than_zero
    Pelton.run { [0, -1].each { |seconds| Pelton.add_timer(seconds) { @log << seconds } } }

    assert_equal [0, -1], @log
  end

  # Also when all of them are late: sleepers and timers share one order.
  def test_late_timers_and_sleepers_go_on_in_the_order_of_their_time
    Pelton.run do
      5.times do |i|
        i.odd? ? Pelton.spawn { sleep(0.04 * i.succ) && @log << i } : Pelton.add_timer(0.04 * i.succ) { @log << i }
      end
      Pelton::Reactor.current.yield
      Fiber.new(blocking: true) { sleep 0.24 }.resume
    end

    assert_equal [0, 1, 2, 3, 4], @log
  end

  def test_a_timer_goes_before_ready_callbacks
    Pelton.run do
      again = ->(left) { Pelton.next_tick { again.call(left - 1) if left > 0 && @log.empty? } }
      1000.times { again.call(10_000) }
      Pelton.add_timer(0.001) { @log << :timer }
      Pelton::Reactor.current.yield while @log.empty?
    end

    assert_equal [:timer], @log
  end

  def test_zero_and_negative_times_are_due_at_once_but_never_inside_the_call
    Pelton.run do
      [0, -1, -0.0, -Float::INFINITY].each { |seconds| Pelton.add_timer(seconds) { @log << seconds } }
      assert_empty @log
    end

    assert_equal 4, @log.size
  end

  def test_very_large_times
    Pelton.run do
      timers = [50 * 86_400, 2**31, 2**62, 1e300, Float::INFINITY].map do |seconds|
        Pelton.add_timer(seconds) { @log << seconds }
      end
      timers << Pelton.add_periodic_timer(Float::INFINITY) { @log << :periodic }
      sleep 0.002

      assert timers.all?(&:active?)
      assert timers.all?(&:cancel)
    end

    assert_empty @log
  end

  def test_invalid_times
    Pelton.run do
      assert_raises(ArgumentError) { Pelton.add_timer(Float::NAN) {} }
      assert_raises(TypeError) { Pelton.add_timer("1") {} }
      assert_raises(TypeError) { Pelton.add_timer(nil) {} }
      assert_raises(ArgumentError) { Pelton.add_timer(1) }
      assert_raises(ArgumentError) { Pelton.add_periodic_timer(1) }
    end
    assert_raises(Pelton::NotRunningError) { Pelton.add_timer(1) {} }
  end

  def test_other_numbers_are_seconds
    Pelton.run { [0.001r, 1/1000r, 0].each { |seconds| Pelton.add_timer(seconds) { @log << seconds } } }

    assert_equal 3, @log.size
  end

  # ---- periodic ------------------------------------------------------------------------------------------------------

  def test_a_periodic_timer_fires_until_it_is_cancelled
    Pelton.run do
      timer = Pelton.add_periodic_timer(0.0005) { @log << 1 }
      Pelton::Reactor.current.yield until @log.size == 5
      assert timer.cancel
      sleep 0.002
    end

    assert_equal 5, @log.size
  end

  def test_periodic_timers_alone_do_not_keep_run_going
    Pelton.run { Pelton.add_periodic_timer(0.001) { @log << 1 } }

    assert_empty @log
  end

  def test_a_periodic_timer_of_zero_does_not_starve_io
    reader, writer = IO.pipe
    Pelton.run do
      timer = Pelton.add_periodic_timer(0) { @log << 1 }
      Pelton.add_timer(0.001) { writer.write("x") }
      reader.read(1)
      timer.cancel
    end

    refute_empty @log
  ensure
    [reader, writer].each(&:close)
  end

  def test_a_late_loop_fires_a_periodic_timer_once_for_all_missed_intervals
    Pelton.run do
      timer = Pelton.add_periodic_timer(0.001) { @log << 1 }
      started = now
      nil until now > started + 0.02
      Pelton::Reactor.current.yield
      assert_equal 1, @log.size
      timer.cancel
    end
  end

  # Its deadlines are multiples of its interval, however late it fires. So after it has fired late, it fires again
  # sooner than an interval later. On a busy machine that may be late, too, but not in each attempt.
  def test_a_periodic_timer_does_not_drift
    skip "always too busy" if SLOW > 1
    interval = 0.1
    eventually("a shorter interval", timeout: 20) { interval_after_firing_late(interval) < interval * 0.7 }
  end

  def test_a_periodic_timer_fires_while_its_callback_waits
    Pelton.run do
      done = Pelton::Operation.new
      timer = Pelton.add_periodic_timer(0.001) do
        @log << 1
        done.succeed if @log.size == 3
        sleep 0.01
      end
      done.await
      timer.cancel
    end

    assert_equal [1, 1, 1], @log
  end

  # ---- cancel and restart --------------------------------------------------------------------------------------------

  def test_cancel_returns_whether_the_timer_was_active
    Pelton.run do
      timer = Pelton.add_timer(0.001) { @log << 1 }

      assert_predicate timer, :active?
      assert timer.cancel
      refute timer.cancel
      refute_predicate timer, :active?
      sleep 0.003
      fired = Pelton.add_timer(0) { @log << 2 }
      sleep 0.001
      refute fired.cancel
    end

    assert_equal [2], @log
  end

  def test_cancel_in_its_own_callback
    Pelton.run do
      once = Pelton.add_timer(0) { @log << once.cancel }
      often = Pelton.add_periodic_timer(0.0001) { @log << often.cancel }
      sleep 0.003
    end

    assert_equal [false, true], @log
  end

  def test_restart_counts_from_now_on
    Pelton.run do
      timer = Pelton.add_timer(0) { @log << :timer }
      timer.restart(1000)
      sleep 0.001
      @log << :slept
      timer.restart(0)
    end

    assert_equal %i[slept timer], @log
  end

  def test_restart_of_a_timer_that_has_fired_and_of_one_that_is_due
    Pelton.run do
      timer = Pelton.add_timer(0) { @log << :fired }
      sleep 0.001
      timer.restart(0)
      sleep 0.001
      due = nil
      Pelton.add_timer(0.0001) { due.restart(0.001) && @log << :restarted }
      due = Pelton.add_timer(0.0002) { @log << :due }
      started = now
      nil until now > started + 0.002
    end

    assert_equal %i[fired fired restarted due], @log
  end

  def test_restart_changes_the_interval_of_a_periodic_timer
    Pelton.run do
      timer = Pelton.add_periodic_timer(1000) { @log << 1 }
      timer.restart(0.0005)
      sleep 0.0005 until @log.size > 2
      assert timer.cancel
    end
  end

  def test_restart_needs_the_reactor_to_run
    timer = Pelton.run { Pelton.add_timer(0) {} }

    assert_raises(Pelton::NotRunningError) { timer.restart(1) }
    Thread.new { Pelton.run { assert_raises(Pelton::NotRunningError) { timer.restart(1) } } }.join
  end

  def test_a_restart_from_another_thread_is_noticed
    Pelton.run do
      timer = Pelton.add_timer(1000) { @log << 1 }
      Thread.new { eventually { Pelton::Watchdog.resting? } && timer.restart(0) }
    end

    assert_equal [1], @log
  end

  # ---- lifetimes -----------------------------------------------------------------------------------------------------

  def test_a_hundred_thousand_timers
    others = Pelton.stats[:timers] # which earlier tests of this process have left
    Pelton.run do
      count = (SLOW > 1) ? 1000 : 100_000
      timers = Array.new(count) { |i| Pelton.add_timer(1000 + i) { flunk } }

      assert_operator Pelton.stats[:timers], :>=, count
      GC.start
      assert timers.all?(&:cancel)
      10_000.times { |i| Pelton.add_timer(i % 10 / 10_000.0) { @log << 1 } }
    end

    assert_equal 10_000, @log.size
    assert_operator Pelton.stats[:timers], :<=, others
  end

  def test_timers_without_references_fire
    Pelton.run do
      100.times { |i| Pelton.add_timer(0.002) { @log << i.to_s } }
      3.times { GC.start }
      GC.compact if GC.respond_to?(:compact)
    end

    assert_equal 100, @log.size
  end

  def test_timers_end_with_run
    one = often = late = left = nil
    thread = Thread.new do # its reactor has no connections of other tests
      Pelton.run do
        one = Pelton.add_timer(1000) { flunk }
        often = Pelton.add_periodic_timer(1000) { flunk }
        Pelton.spawn do
          sleep
        ensure
          late = Pelton.add_timer(1000) { flunk }
        end
        Pelton.next_tick { Pelton.stop }
      end
      left = Pelton.stats[:timers]
      Pelton.run { 1 }
    end

    assert_equal 1, thread.value
    refute [one, often, late].any?(&:active?)
    assert_equal 0, left
  end

  def test_timers_outlive_their_thread
    timers = Array.new(10) { Thread.new { Pelton.run { Pelton.add_timer(0) {} } }.value }
    3.times { GC.start }

    assert timers.none?(&:active?)
    assert timers.none?(&:cancel)
    assert_raises(Pelton::NotRunningError) { timers.first.restart(1) }
  end

  def test_an_error_of_a_timer_is_reported_and_a_periodic_one_goes_on
    Pelton.on_error { |error| @log << error.message }
    Pelton.run do
      timer = Pelton.add_periodic_timer(0.0005) { raise "again" }
      sleep 0.0005 until @log.size > 2
      timer.cancel
    end

    assert_equal %w[again again again], @log.first(3)
  end

  private

  # Seconds from a periodic timer's first firing, which comes half an interval late, to its second.
  def interval_after_firing_late(interval)
    firings = []
    Pelton.run do
      started = now
      fired_twice = Pelton::Operation.new
      timer = Pelton.add_periodic_timer(interval) do
        firings << now
        fired_twice.succeed if firings.size == 2
      end
      Pelton.add_timer(interval * 0.9) { nil until now > started + interval * 1.5 }
      fired_twice.await
      timer.cancel
    end
    firings[1] - firings[0]
  end
end
