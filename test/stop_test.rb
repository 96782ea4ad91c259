# frozen_string_literal: true

require_relative "test_helper"
require_relative "support/event_log"
require "pelton"
require "set"
require "stringio"
require "timeout"

# Pelton.stop, cancelled fibers and the grace time.
class StopTest < PeltonTest
  include EventLog

  def test_stop_ends_run_with_a_value
    assert_equal 5, Pelton.run { Pelton.stop(5) && sleep }
    assert_equal 6, Pelton.run { Pelton.next_tick { Pelton.stop(6) } && sleep }
    assert_nil Pelton.run { Pelton.add_timer(0) { Pelton.stop } && sleep }
    assert_nil Pelton.stop # outside run: nothing
  end

  def test_the_first_stop_counts
    assert_equal 1, Pelton.run { Pelton.stop(1) || Pelton.stop(2) || 3 }
  end

  def test_stop_works_from_another_thread
    value = Pelton.run do
      reactor = Pelton::Reactor.current
      Thread.new { reactor.stop(:thread) }
      ensuring(:main) { sleep }
    end

    assert_equal :thread, value
    assert_equal [:main], @log
  end

  def test_stop_cancels_waiting_fibers_and_lets_ensure_blocks_wait
    reader, writer = IO.pipe
    Pelton.run do
      waits = [-> { sleep }, -> { reader.wait_readable }, -> { Queue.new.pop }, -> { Pelton::Operation.new.await },
        -> { Fiber.new { ensuring(:inner) { sleep } }.resume }, -> { Enumerator.new { Pelton::Operation.new.await }.next }]
      waits.each_with_index do |wait, i|
        Pelton.spawn { ensuring(i) { wait.call } }
      end
      Fiber.schedule { ensuring(:fiber) { sleep } }
      Pelton.next_tick { Pelton.stop }
    end

    assert_equal [0, 1, 2, 3, 4, 5, :inner, :fiber].to_set, @log.to_set
    assert_equal 8, @log.size
    assert_equal 0, Pelton.stats[:parked]
  ensure
    [reader, writer].each(&:close)
  end

  def test_cancelled_is_not_rescued_by_accident
    Pelton.run do
      Pelton.spawn do
        sleep
      rescue => error
        @log << error
      end
      Pelton.next_tick { Pelton.stop }
    end

    assert_empty @log
  end

  def test_a_fiber_that_swallows_cancelled_has_the_grace_time_and_is_then_abandoned
    output = StringIO.new
    Pelton.logger = output
    Pelton.run(grace: 0.01) do
      Pelton.spawn do
        loop do
          sleep
        rescue Pelton::Cancelled
          @log << :swallowed
        end
      ensure
        @log << :never
      end
      Pelton.next_tick { Pelton.stop }
    end

    assert_equal [:swallowed], @log
    assert_match(/1 fiber.*never continue/, output.string)
    assert_equal 0, Pelton.stats[:parked]
    assert_equal 1, Pelton.run { sleep(0.001) && 1 } # the abandoned fiber does not keep the next run
    GC.start
    assert_equal [:swallowed], @log
  end

  def test_abandoned_fibers_leave_no_trace_when_their_thread_has_ended
    Pelton.logger = nil
    10.times do
      Thread.new {
        Pelton.run(grace: 0) do
          5.times {
            Pelton.spawn {
              loop {
                begin
                  begin
                    sleep(10)
                  rescue
                    Timeout.timeout(5) { sleep }
                  end
                rescue
                  Exception
                end
              }
            }
          }
          5.times {
            Pelton.spawn {
              loop {
                begin
                  Timeout.timeout(5) { sleep 3 }
                rescue
                  Exception
                end
              }
            }
          }
          Pelton.next_tick { Pelton.stop }
        end
      }.join
    end
    3.times { GC.start }

    assert_equal 1, Pelton.run { sleep(0.001) && 1 }
  end

  def test_ticks_that_make_ticks_do_not_hold_up_a_stop
    tick = -> { (@log << 1) && Pelton.next_tick(&tick) }
    Pelton.run(grace: 60) do
      Pelton.next_tick(&tick)
      Pelton.add_timer(0.001) { Pelton.stop }
    end

    assert_operator @log.size, :>, 1
  end

  def test_callbacks_of_tasks_that_end_at_the_stop_are_called
    Pelton.run do
      task = Pelton.spawn { sleep }
      task.errback { |error| @log << error.class }
      Pelton.next_tick { Pelton.stop }
    end

    assert_equal [Pelton::Cancelled], @log
  end

  def test_a_task_that_is_spawned_while_the_reactor_stops_does_not_begin
    Pelton.run do
      Pelton.spawn { ensuring(:first) { sleep } && flunk }
      Pelton.spawn do
        sleep
      ensure
        @spawned = Pelton.spawn { @log << :never }
      end
      Pelton.next_tick { Pelton.stop }
    end

    assert_equal [:first], @log
    assert_equal :failed, @spawned.state
    assert_kind_of Pelton::Cancelled, @spawned.result
  end
end
