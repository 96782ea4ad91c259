# frozen_string_literal: true

require_relative "helper"

class EventMachineReactorTest < EventMachineTest
  def test_run_ends_by_stop_and_can_be_run_again
    2.times do
      running = nil
      em do
        running = EM.reactor_running?
        EM.stop
      end

      assert running
      refute_predicate EM, :reactor_running?
    end
  end

  def test_run_block_stops_after_its_block
    ran = false
    EM.run_block { ran = true }

    assert ran
  end

  def test_a_nested_run_calls_its_block_at_once_and_its_tail_at_the_end
    log = []
    em do
      EM.run(-> { log << 1 }, -> { log << 3 })
      log << 2
      EM.stop
    end

    assert_equal [1, 2, 3], log
  end

  def test_stop_takes_effect_at_the_end_of_the_iteration
    log = []
    em do
      EM.next_tick do
        EM.stop
        log << EM.reactor_running? << EM.stopping?
        EM.next_tick { log << :never }
      end
      EM.next_tick { log << :same_iteration }
    end

    assert_equal [true, true, :same_iteration], log
    refute_predicate EM, :stopping?
  end

  def test_after_an_error_it_is_stopping_as_well
    stopping = nil
    assert_raises(KeyError) do
      em do
        EM.add_shutdown_hook { stopping = EM.stopping? }
        EM.next_tick { raise KeyError }
      end
    end

    assert_equal true, stopping
  end

  def test_ticks_of_the_iteration_in_which_a_timer_stops_still_run
    log = []
    em do
      EM.add_timer(0.001) do
        EM.stop
        EM.next_tick do
          log << :tick
          EM.next_tick { log << :never }
        end
      end
    end

    assert_equal [:tick], log
  end

  def test_stop_outside_run_raises
    error = assert_raises(RuntimeError) { EM.stop }

    assert_match(/not initialized/, error.message)
  end

  def test_shutdown_hooks_run_last_first_and_before_unbind
    log = []
    em do
      port = serve
      EM.connect("127.0.0.1", port, handler(connection_completed: -> { EM.stop }, unbind: -> { log << :unbind }))
      EM.add_shutdown_hook { log << 1 }
      EM.add_shutdown_hook do
        log << 2 << EM.reactor_running?
        EM.add_shutdown_hook { log << 3 }
      end
    end

    assert_equal [2, true, 3, 1, :unbind], log
  end

  def test_the_other_hooks_run_when_one_raises
    log = []
    error = assert_raises(RuntimeError) do
      em do
        EM.add_shutdown_hook { log << :first }
        EM.add_shutdown_hook { raise "hook" }
        EM.stop
      end
    end

    assert_equal "hook", error.message
    assert_equal [:first], log
  end

  def test_an_unhandled_error_ends_run
    log = []
    error = assert_raises(RuntimeError) do
      em do
        port = serve
        EM.add_shutdown_hook { log << :hook }
        EM.connect("127.0.0.1", port, handler(connection_completed: -> { raise "boom" }, unbind: -> { log << :unbind }))
      end
    end

    assert_equal "boom", error.message
    assert_equal [:hook, :unbind], log
  end

  def test_nothing_runs_after_the_error
    log = []
    assert_raises(RuntimeError) do
      em do
        EM.next_tick { raise "boom" }
        EM.next_tick { log << :never }
      end
    end

    assert_empty log
  end

  def test_an_error_handler_keeps_the_loop_and_the_connection
    log = []
    EM.error_handler { |error| log << error.message }
    em do
      port = serve(handler(receive_data: ->(data) { (data == "stop") ? EM.stop : raise(data) }))
      EM.connect("127.0.0.1", port) do |connection|
        connection.send_data("one")
        once(-> { log.include?("one") }) { connection.send_data("stop") }
      end
      EM.next_tick { raise "two" }
    end

    assert_equal %w[one two], log.sort
  end

  def test_an_error_of_the_error_handler_leaves_run
    error = RuntimeError.new("mine")
    EM.error_handler { |_| raise error }
    raised = assert_raises(RuntimeError) { em { EM.next_tick { raise ArgumentError } } }

    assert_same error, raised
  end

  def test_an_error_handler_gets_standard_errors_alone
    log = []
    EM.error_handler { |error| log << error }
    assert_raises(NotImplementedError) { em { EM.next_tick { raise NotImplementedError } } }
    assert_raises(SystemExit) { em { EM.next_tick { exit } } }

    assert_empty log
  end

  def test_throw_leaves_run
    assert_equal 5, catch(:done) { em { EM.next_tick { throw :done, 5 } } }
    assert_equal 6, catch(:done) { em { throw :done, 6 } }
    assert_raises(UncaughtThrowError) { em { EM.next_tick { throw :nobody } } }
  end

  def returning
    EM.run { return 7 }
    8
  end

  def returning_from_a_tick
    EM.run { EM.next_tick { [1].each { return 9 } } }
    8
  end

  def test_return_leaves_the_method_around_the_block
    assert_equal 7, returning
    assert_equal 9, returning_from_a_tick
  end

  def test_break_leaves_run_with_its_value
    assert_equal(7, EM.run { break 7 })
  end

  def test_fiber_locals_are_kept_from_callback_to_callback
    log = []
    Thread.current[:em_test] = :outside
    em do
      log << Thread.current[:em_test]
      Thread.current[:em_test] = 1
      EM.next_tick do
        sleep 0.001
        log << Thread.current[:em_test]
        EM.add_timer(0) do
          log << Thread.current[:em_test]
          EM.stop
        end
      end
    end

    assert_equal [:outside, 1, 1], log
  ensure
    Thread.current[:em_test] = nil
  end

  def test_a_callback_that_waits_delays_no_other
    log = []
    em do
      EM.next_tick do
        log << :sleeps
        sleep 0.05
        log << :woke
        EM.stop
      end
      EM.next_tick { log << :other }
    end

    assert_equal [:sleeps, :other, :woke], log
  end

  def test_fibers_yield_and_are_resumed_by_callbacks
    log = []
    em do
      Fiber.new do
        fiber = Fiber.current
        EM.add_timer(0.001) { fiber.resume(:value) }
        log << Fiber.yield
        EM.stop
      end.resume
      log << :returned
    end

    assert_equal [:returned, :value], log
  end

  def test_it_runs_in_another_thread_and_is_stopped_from_this_one
    log = Thread::Queue.new
    thread = Thread.new { EM.run { log << EM.reactor_thread? } }

    assert log.pop
    refute_predicate EM, :reactor_thread?
    EM.add_timer(0.001) { log << Thread.current }

    assert_same thread, log.pop
    EM.stop
    thread.join
  end

  def test_killing_its_thread_ends_run
    ready = Thread::Queue.new
    thread = Thread.new { EM.run { ready << 1 } }
    ready.pop
    thread.kill
    thread.join

    refute_predicate EM, :reactor_running?
  end

  def test_it_runs_inside_pelton_run
    log = []
    Pelton.run do
      em { EM.add_timer(0.001) { EM.stop } }
      log << EM.reactor_running?
      sleep 0.001
      log << :on
    end

    assert_equal [false, :on], log
  end

  def test_a_child_runs_a_loop_of_its_own
    assert_equal "child\ntrue\n", ruby_output(<<~RUBY)
      require "pelton/eventmachine"
      reader, writer = IO.pipe
      EM.run do
        EM.add_timer(60) { }
        pid = EM.fork_reactor do
          EM.add_timer(0.01) { writer.write("child"); EM.stop }
        end
        EM.next_tick { puts reader.readpartial(9), EM.reactor_running?; Process.wait(pid); EM.stop }
      end
    RUBY
  end

  # A callback that blocks until the watchdog has written a report.
  BLOCKED = <<~RUBY
    require "pelton/eventmachine"
    reader, writer = IO.pipe
    $stderr.reopen(writer)
    select = ->(seconds = nil) do
      Fiber.new(blocking: true) { puts IO.select([reader], nil, nil, seconds) ? "reported" : "silence" }.resume
    end
    run = ->(seconds) { EM.run { EM.next_tick { select.call(seconds) || EM.stop } } }
  RUBY

  def test_a_callback_that_blocks_is_not_reported
    assert_equal "silence\n", ruby_output("#{BLOCKED}; run.call(0.5)", env: {"PELTON_WATCHDOG" => nil})
  end

  def test_a_callback_that_blocks_is_reported_on_request
    assert_equal "reported\n", ruby_output("#{BLOCKED}; run.call(nil)", env: {"PELTON_WATCHDOG" => "0.1"})
    ["Pelton.watchdog = 0.1; run.call(nil)", "Pelton.run { run.call(nil) }"].each do |program|
      assert_equal "reported\n", ruby_output("#{BLOCKED}; #{program}", env: {"PELTON_WATCHDOG" => nil}), program
    end
  end

  def test_the_watchdog_goes_on_after_run
    program = "EM.run { EM.stop }; Pelton.run { Pelton.next_tick { select.call } }"

    assert_equal "reported\n", ruby_output("#{BLOCKED}; #{program}", env: {"PELTON_WATCHDOG" => nil})
  end

  def test_an_interrupt_leaves_run_after_the_hooks
    assert_equal "hook\nout\nfalse\n", ruby_output(<<~RUBY)
      require "pelton/eventmachine"
      begin
        EM.run do
          EM.add_shutdown_hook { puts "hook" }
          EM.add_timer(0.01) { Process.kill(:INT, $$) }
        end
      rescue Interrupt
        puts "out", EM.reactor_running?
      end
    RUBY
  end

  def test_a_trap_handler_may_stop_it
    assert_equal "out\n", ruby_output(<<~RUBY)
      require "pelton/eventmachine"
      trap(:USR1) { EM.stop }
      EM.run { EM.add_timer(0.01) { Process.kill(:USR1, $$) } }
      puts "out"
    RUBY
  end
end
