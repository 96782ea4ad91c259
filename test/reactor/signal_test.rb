# frozen_string_literal: true

require_relative "../test_helper"

# INT and TERM end run after the ensure blocks. Trap handlers run wherever the loop is. The tests run processes of their
# own, because signals go to the main thread.
class SignalTest < PeltonTest
  PROGRAM = <<~RUBY
    require "pelton"
    $stdout.sync = true
    def soon(signal, after = 0.005) = Process.spawn("sleep \#{after}; kill -\#{signal} \#{Process.pid}")
    def ensuring(name)
      yield
    ensure
      sleep 0.001
      puts name
    end
    def interrupted(grace, by: Interrupt, &block)
      Pelton.logger = nil
      Pelton.run(grace: grace, &block)
    rescue by
      puts "interrupted"
    end
  RUBY

  # The states in which a signal may find the loop.
  WAITS = {
    "a fiber that waits inline" => "sleep",
    "a worker that runs the loop" => "Pelton.spawn { ensuring(:task) { sleep } }; Pelton::Operation.new.await",
    "a callback that computes" => "Pelton.next_tick { loop { 1 + 1 } }; sleep",
    "a fiber of the user's own" => "Fiber.new { ensuring(:inner) { sleep } }.resume",
    "a fiber of Fiber.schedule" => "Fiber.schedule { ensuring(:inner) { loop { 1 + 1 } } }; sleep",
    "a loop that never waits" => "Pelton::Reactor.current.yield while true",
    "beside other threads" => "3.times { Thread.new { sleep } }; Thread.new { loop { 1 + 1 } }; sleep",
    "a read" => "IO.pipe.first.read"
  }.freeze

  WAITS.each do |holder, wait|
    {"INT" => "Interrupt", "TERM" => "SignalException"}.each do |signal, error|
      define_method("test_#{signal}_leaves_run_from_#{holder.tr(" '", "_")}") do
        output = child(<<~RUBY)
          begin
            Pelton.run do
              ensuring(:main) { soon(:#{signal}) && (#{wait}) }
            end
          rescue #{error} => error
            puts error.class
          end
          p Pelton.run { sleep(0.001) && :again }
        RUBY

        assert_equal "main", (output.lines.map(&:chomp) - %w[task inner]).first
        assert_equal [error, ":again"], output.lines.last(2).map(&:chomp)
      end
    end
  end

  def test_without_a_rescue_the_process_ends_by_the_signal
    output, errors, status = run_ruby(PROGRAM + "Pelton.run { ensuring(:main) { soon(:TERM) && sleep } }")

    assert_equal "main\n", output
    assert_empty errors
    assert_equal Signal.list["TERM"], status.termsig
  end

  def test_ensure_blocks_have_the_grace_time_and_no_more
    assert_equal "main\ninterrupted\n", child(<<~RUBY)
      interrupted(0.3) do
        Pelton.spawn { begin; sleep; ensure; sleep; puts "never"; end }
        ensuring(:main) { soon(:INT) && sleep }
      end
    RUBY
  end

  def test_a_second_signal_ends_the_grace_time
    assert_equal "interrupted\n", child(<<~RUBY)
      interrupted(1000, by: SignalException) do # TERM itself, when a busy machine sends it before the fiber sleeps
        soon(:INT) && sleep
      ensure
        soon(:TERM)
        sleep
        puts "never"
      end
    RUBY
  end

  def test_a_trap_handler_runs_and_everything_goes_on
    output = child(<<~RUBY)
      trap(:USR1) { puts "trapped"; $trapped = true }
      Pelton.run do
        soon(:USR1)
        Pelton.spawn { sleep 0.001 until $trapped; puts "task" }
        sleep 0.001 until $trapped
        puts "main"
      end
    RUBY

    assert_equal %w[main task trapped], output.split.sort
    assert_equal "trapped\n", output.lines.first
  end

  # The handler parks the fiber that it happened to interrupt, and no other.
  def test_a_trap_handler_may_wait
    WAITS.values_at("a fiber that waits inline", "a worker that runs the loop").each do |wait|
      output = child(<<~RUBY)
        $ticks = 0
        trap(:USR1) { from = $ticks; sleep 0.001 until $ticks > from + 2; puts "trapped"; Pelton.stop }
        Pelton.run do
          soon(:USR1)
          2.times { Pelton.add_periodic_timer(0.002) { $ticks += 1 } } # the handler may interrupt one of them
          #{wait}
        end
      RUBY

      assert_equal "trapped\n", output.lines.grep_v(/task/).join
    end
  end

  def test_a_fiber_wakes_though_its_event_comes_while_a_trap_handler_waits_on_it
    assert_equal "trapped\npopped\n", child(<<~RUBY)
      queue = Queue.new
      trap(:USR1) { queue << "popped"; sleep 0.02; puts "trapped" }
      Pelton.run do
        soon(:USR1, 0)
        puts queue.pop
      end
    RUBY
  end

  # Ruby takes a fiber that a trap handler has made for a trap handler as well: it misses signals, and must not lock a
  # Mutex.
  def test_the_fiber_that_takes_over_from_a_waiting_trap_handler_is_an_ordinary_one
    assert_equal "locked\ntrapped\n", child(<<~RUBY)
      trap(:USR1) { sleep 0.01; puts "trapped" }
      Pelton.run do
        Pelton.next_tick { Mutex.new.synchronize { puts "locked" } }
        Process.kill(:USR1, Process.pid)
        sleep 0.02
      end
    RUBY
  end

  # The handler's fiber keeps the interrupted fiber from going on, even when that is due.
  def test_a_trap_handler_that_resumes_a_fiber_which_waits
    assert_equal "other\ninner\ntrapped\nmain\n", child(<<~RUBY)
      struck = Pelton::Operation.new
      trap(:USR1) { $trapped = struck.succeed; Fiber.new { sleep 0.1; puts "inner" }.resume; puts "trapped" }
      Pelton.run do
        Pelton.spawn { struck.await; puts "other" }
        Pelton::Reactor.current.yield
        soon(:USR1, 0)
        sleep 0.02 until $trapped
        puts "main"
      end
    RUBY
  end

  # A worker that steps aside is in the pool already when its switch to the woken fiber fails. Another trap handler may
  # strike it there; the trace stands for that handler. The signal comes when the main fiber waits: before, no switch to
  # it would fail.
  def test_a_worker_in_the_pool_that_has_resumed_a_fiber_is_passed_over
    assert_equal "worker\nhandler\nmain\n", child(<<~RUBY)
      struck = Pelton::Operation.new
      trap(:USR1) do
        Pelton.add_timer(0.01) { struck.succeed }
        Fiber.new { sleep 0.001 until $worked; puts "handler" }.resume
      end
      striking = TracePoint.new(:c_call) do |call|
        next unless call.self.is_a?(FiberError)
        striking.disable
        Fiber.new { sleep 0.001; puts "worker"; $worked = true }.resume
      end
      striking.enable
      Pelton.run do
        Thread.new { sleep 0.001 until Thread.main.stop?; Process.kill(:USR1, Process.pid) }
        struck.await
        puts "main"
      end
    RUBY
  end

  def test_a_task_is_cancelled_though_a_trap_handler_waits_on_its_fiber
    assert_equal "task\ncancelled\n", child(<<~RUBY)
      trap(:USR1) { $trapped = true; sleep }
      Pelton.run do
        # this task waits inline, since the others wait already
        task = Pelton.spawn { ensuring(:task) { soon(:USR1, 0) && sleep } }
        Thread.new { sleep 0.001 until $trapped; task.cancel }
        begin
          task.await
        rescue Pelton::Cancelled
          puts "cancelled"
        end
      end
    RUBY
  end

  # The handler's Cancelled, which arrives after that of another fiber, is neither an error of run nor a second
  # interrupt.
  def test_a_trap_handler_that_is_cancelled_by_the_stop_leaves_the_others_their_grace_time
    assert_equal "task\n:stopped\n", child(<<~RUBY)
      trap(:USR1) { $trapped = true; begin; sleep; ensure; sleep 0.01; end }
      value = Pelton.run do
        Pelton.spawn { begin; sleep; ensure; sleep 0.05; puts "task"; end }
        Thread.new { sleep 0.001 until Thread.main.stop?; Process.kill(:USR1, Process.pid) }
        Pelton.add_periodic_timer(0.001) { Pelton.stop(:stopped) if $trapped }
        sleep
      end
      p value
    RUBY
  end

  # Job control stops the process, as a terminal does. Afterwards all timers are late, and fire in their order.
  def test_a_process_that_was_stopped_goes_on
    reader, writer = IO.pipe
    pid = Process.spawn(child_environment, RbConfig.ruby, "-I#{LIB}", "-rpelton", "-e", <<~RUBY, out: writer)
      $stdout.sync = true
      Pelton.watchdog = nil
      Pelton.run do
        log = []
        [3, 1, 2].each { |i| Pelton.add_timer(0.1 + i * 0.01) { log << i } }
        periodic = Pelton.add_periodic_timer(0.1) { log << :periodic }
        Pelton.add_timer(0.15) { periodic.cancel && p(log) }
        Process.kill(:STOP, Process.pid)
      end
    RUBY
    writer.close
    eventually("its stop") { File.read("/proc/#{pid}/stat")[/\) (\w)/, 1] == "T" }
    sleep 0.2 # until all timers are overdue
    Process.kill(:CONT, pid)

    assert_equal "[:periodic, 1, 2, 3]\n", reader.read
    Process.wait(pid)
    assert_predicate $?, :success?
  end

  def test_an_error_of_a_trap_handler_leaves_run
    assert_equal "main\nin the handler\n", child(<<~RUBY)
      trap(:USR1) { raise "in the handler" }
      begin
        Pelton.run { ensuring(:main) { soon(:USR1) && sleep } }
      rescue RuntimeError => error
        puts error.message
      end
    RUBY
  end

  def test_a_trap_handler_may_stop_or_queue_a_tick
    assert_equal "tick\n:stopped\n", child(<<~RUBY)
      trap(:USR1) { Pelton.next_tick { puts "tick"; soon(:USR2) } }
      trap(:USR2) { Pelton.stop(:stopped) }
      p Pelton.run { soon(:USR1); sleep }
    RUBY
  end

  def test_a_storm_of_signals_disturbs_no_fiber
    assert_equal "300\n100\ntrue\n0\n", child(<<~RUBY)
      count = 0
      trap(:USR1) { count += 1; sleep 0.0001 if count % 3 == 0 }
      slept = popped = 0
      queue = Queue.new
      Pelton.run do
        stormer = Process.spawn("for i in $(seq 200); do kill -USR1 \#{Process.pid}; done")
        30.times { Pelton.spawn { 10.times { sleep 0.001; slept += 1 } } }
        10.times { Pelton.spawn { 10.times { queue.pop && popped += 1 } } }
        Pelton.spawn { 100.times { queue << 1; sleep 0.0002 } }
        Process.wait(stormer)
      end
      p slept, popped, count > 0, Pelton.stats[:parked]
    RUBY
  end

  def test_a_reactor_beside_the_main_thread_is_stopped_by_it
    assert_equal "thread\n:stopped\n", child(<<~RUBY)
      reactor = nil
      thread = Thread.new { Pelton.run { reactor = Pelton::Reactor.current; ensuring(:thread) { sleep } } }
      sleep 0.001 until reactor
      soon(:INT)
      begin
        thread.join
      rescue Interrupt
        reactor.stop(:stopped)
        p thread.value
      end
    RUBY
  end

  def test_the_processes_end_gives_other_threads_reactors_their_time
    assert_equal "thread\n", child(<<~RUBY)
      waits = Queue.new
      Thread.new { Pelton.run { Pelton.next_tick { waits << true }; ensuring(:thread) { sleep } } }
      waits.pop
    RUBY
  end

  private

  def child(code) = ruby_output(PROGRAM + code)
end
