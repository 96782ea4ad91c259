# frozen_string_literal: true

require_relative "helper"

class EventMachineTicksTest < EventMachineTest
  def test_ticks_come_in_order_and_before_the_timers_that_they_add
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

  def test_blocks_given_before_run_are_called_by_run
    log = []
    EM.next_tick { log << :early }
    em do
      log << :block
      EM.next_tick { EM.stop }
    end

    assert_equal [:block, :early], log
  end

  def test_next_tick_needs_a_callable
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

  def test_a_tick_of_another_thread_comes_after_input_that_was_there_before
    log = []
    20.times do
      accepted = false
      em do
        port = serve(handler(post_init: -> { accepted = true }))
        EM.add_timer(0.002) do
          Thread.new do
            client = TCPSocket.new("127.0.0.1", port)
            EM.next_tick do
              log << accepted
              client.close
              EM.stop
            end
          end
        end
      end
    end

    assert_equal [true], log.uniq
  end

  def test_requests_of_another_thread_keep_their_order
    log = []
    received = nil
    em do
      port = serve(handler(receive_data: ->(data) { received = data }, unbind: -> { EM.stop }))
      client = EM.connect("127.0.0.1", port)
      Thread.new do
        EM.next_tick { log << :tick }
        EM.schedule { (log << :schedule) && client.send_data("data") }
        EM.connect("127.0.0.1", port) { log << :connect }
        client.close_connection_after_writing
      end
    end

    assert_equal [:tick, :schedule, :connect], log
    assert_equal "data", received
  end

  def test_a_tick_loop_runs_until_its_block_returns_stop
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

  def test_a_tick_loop_is_started_once_and_calls_late_blocks_at_once
    work = EM::TickLoop.new { :stop }
    called = false
    work.on_stop { called = true }

    assert called
    work.start
    assert_raises(ArgumentError) { work.start }
    EM.run_block {}
  end
end
