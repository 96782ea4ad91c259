# frozen_string_literal: true

require_relative "test_helper"
require "pelton"
require "set"
require "stringio"
require "timeout"

# Run, stop, next_tick, errors, threads.
class ReactorTest < PeltonTest
  def setup
    @log = []
  end

  def teardown
    Pelton.on_error
    Pelton.logger = $stderr
  end

  # ---- run -----------------------------------------------------------------------------------------------------------

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
    assert_raises(ArgumentError) { Pelton.next_tick }
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

  def test_each_thread_has_a_reactor_of_its_own
    reactors = Array.new(3) { Thread.new { Pelton.run { sleep(0.001) && Pelton::Reactor.current } }.value } << Pelton::Reactor.current

    assert_equal 4, reactors.uniq.size
    assert_raises(Pelton::Error) { reactors.first.run {} }
    assert_raises(NoMethodError) { Pelton::Reactor.new }
  end

  def test_another_scheduler_is_refused
    stranger = Object.new
    %i[block unblock kernel_sleep io_wait fiber close].each { |name| stranger.define_singleton_method(name) { |*| nil } }
    error = Thread.new {
      Fiber.set_scheduler(stranger)
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

  # ---- errors --------------------------------------------------------------------------------------------------------

  def test_an_error_of_the_block_leaves_run_after_the_ensure_blocks
    error = assert_raises(RuntimeError) do
      Pelton.run do
        Pelton.spawn { ensuring(:task) { sleep } }
        sleep 0.001
        raise "main"
      end
    end

    assert_equal "main", error.message
    assert_equal [:task], @log
    assert_match(/reactor_test/, error.backtrace.first)
  end

  def test_an_error_of_a_callback_goes_to_on_error_and_nothing_stops
    Pelton.on_error { |error| @log << error.message }
    Pelton.run do
      Pelton.next_tick { raise "tick" }
      Pelton.add_timer(0) { raise "timer" }
      Pelton.spawn { raise "task" }
      Fiber.schedule { raise "fiber" }
      Pelton::Operation.new.callback { raise "callback" }.succeed
      Pelton::Operation.new.fail(RuntimeError.new("operation"))
      sleep 0.003
      @log << :end
    end

    assert_equal %w[callback fiber operation task tick timer], @log[..-2].sort
    assert_equal :end, @log.last
  end

  def test_an_error_that_nobody_wants_is_logged
    output = StringIO.new
    Pelton.logger = output
    Pelton.run { Pelton.next_tick { raise "nobody" } }

    assert_match(/nobody rescued this error.*reactor_test.*nobody/m, output.string)
  end

  def test_an_error_in_on_error_ends_run
    Pelton.on_error { raise "in on_error" }
    error = assert_raises(RuntimeError) do
      Pelton.run do
        Pelton.next_tick { raise "first" }
        ensuring(:main) { sleep }
      end
    end

    assert_equal "in on_error", error.message
    assert_equal [:main], @log
  end

  def test_on_error_may_wait
    Pelton.on_error { |error| sleep(0.001) && @log << error.message }
    Pelton.run do
      2.times { |i| Pelton.next_tick { raise "error #{i}" } }
      Pelton.next_tick { @log << :tick }
    end

    assert_equal [:tick, "error 0", "error 1"], @log
  end

  def test_exit_leaves_run_from_wherever_it_is_called
    callers = {
      main: -> { exit 7 },
      tick: -> { Pelton.next_tick { exit 7 } },
      timer: -> { Pelton.add_timer(0) { exit 7 } && nil },
      task: -> { Pelton.spawn { sleep(0.001) && exit(7) } && nil },
      fiber: -> { Fiber.schedule { exit 7 } && nil },
      user_fiber: -> { Pelton.next_tick { Fiber.new { sleep(0) && exit(7) }.resume } }
    }
    callers.each do |name, call|
      error = assert_raises(SystemExit, name) { Pelton.run { call.call || ensuring(name) { sleep } } }
      assert_equal 7, error.status, name
    end

    assert_equal callers.keys - %i[main fiber], @log # in these two the block does not come so far
  end

  def test_a_throw_goes_on_outside_run
    assert_equal 1, catch(:out) { Pelton.run { throw :out, 1 } }
    assert_equal 2, catch(:out) { Pelton.run { Pelton.next_tick { throw :out, 2 } || ensuring(:main) { sleep } } }
    assert_equal [:main], @log
    error = assert_raises(UncaughtThrowError) { Pelton.run { Pelton.add_timer(0) { throw :nowhere } } }
    assert_equal :nowhere, error.tag
  end

  def test_a_break_out_of_a_callback_is_an_error_of_that_callback
    Pelton.on_error { |error| @log << error.class }
    Pelton.run do
      [1].each { Pelton.next_tick { break } }
      Pelton.next_tick(&method(:returning_block).call)
    end

    assert_equal [LocalJumpError, LocalJumpError], @log
  end

  # ---- stop ----------------------------------------------------------------------------------------------------------

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

  def test_stop_cancels_what_waits_and_lets_ensure_blocks_wait
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

  def test_who_swallows_cancelled_has_the_grace_time_and_is_given_up_then
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
    assert_match(/1 fiber.*never go on/, output.string)
    assert_equal 0, Pelton.stats[:parked]
    assert_equal 1, Pelton.run { sleep(0.001) && 1 } # the one that was given up does not keep the next run
    GC.start
    assert_equal [:swallowed], @log
  end

  def test_who_was_given_up_leaves_no_trace_when_its_thread_has_ended
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

  def test_callbacks_of_what_ends_at_the_stop_are_called
    Pelton.run do
      task = Pelton.spawn { sleep }
      task.errback { |error| @log << error.class }
      Pelton.next_tick { Pelton.stop }
    end

    assert_equal [Pelton::Cancelled], @log
  end

  def test_what_is_spawned_while_the_reactor_stops_does_not_begin
    Pelton.run do
      Pelton.spawn { ensuring(:first) { sleep } && flunk }
      Pelton.spawn do
        sleep
      ensure
        @late = Pelton.spawn { @log << :never }
      end
      Pelton.next_tick { Pelton.stop }
    end

    assert_equal [:first], @log
    assert_equal :failed, @late.state
    assert_kind_of Pelton::Cancelled, @late.result
  end

  # ---- ticks ---------------------------------------------------------------------------------------------------------

  def test_next_tick_keeps_the_order_and_runs_what_it_queues_in_the_next_tick
    Pelton.run do
      Pelton.next_tick do
        @log << 1
        Pelton.next_tick { @log << 3 }
      end
      Pelton.next_tick { @log << 2 }
    end

    assert_equal [1, 2, 3], @log
  end

  def test_next_tick_before_run_waits_for_run
    Pelton.next_tick { @log << :tick }
    assert_empty @log
    Pelton.run { @log << :main }

    assert_equal %i[tick main], @log
  end

  def test_a_tick_that_queues_itself_for_ever_starves_neither_io_nor_timers
    reader, writer = IO.pipe
    Pelton.run do
      tick = -> { Pelton.next_tick(&tick) }
      Pelton.next_tick(&tick)
      Pelton.add_timer(0.001) { writer.write("x") }
      @log << reader.read(1)
      Pelton.stop
    end

    assert_equal ["x"], @log
  ensure
    [reader, writer].each(&:close)
  end

  def test_who_never_waits_starves_neither_timers_nor_io
    reader, writer = IO.pipe
    Pelton.run do
      done = false
      Pelton.spawn { @log << reader.readpartial(1) && done = true }
      Pelton.add_timer(0.001) { writer.write("x") }
      Pelton::Reactor.current.yield until done
    end

    assert_equal ["x"], @log
  ensure
    [reader, writer].each(&:close)
  end

  # Always ready: a socket that has data again whenever it is read.
  def test_a_greedy_reader_lets_the_loop_turn
    near, far = UNIXSocket.pair.map { |socket| Pelton::Stream.for_fd(socket.tap { _1.autoclose = false }.fileno) }
    Pelton.run do
      stopped = false
      Pelton.add_timer(0.001) { stopped = true }
      until stopped
        far.write("x" * 10)
        far.flush
        near.readpartial(10)
      end
      @log << :end
    end

    assert_equal [:end], @log
  end

  def test_what_was_flushed_already_does_not_keep_it_running
    near, far = UNIXSocket.pair.map { |socket| Pelton::Stream.for_fd(socket.tap { _1.autoclose = false }.fileno) }
    Pelton.run do
      3.times { Pelton::Reactor.current.yield } # the streams' first events are over
      far.write("x")
      far.flush
      near.readpartial(1)
      @log << :end
    end

    assert_equal [:end], @log
  end

  def test_yield_lets_everybody_else_go_first
    Pelton.run do
      3.times { |i| Pelton.next_tick { @log << i } }
      Pelton::Reactor.current.yield
      @log << :main
    end

    assert_equal [0, 1, 2, :main], @log
  end

  # ---- what keeps it running, and other threads ----------------------------------------------------------------------

  def test_hold_keeps_it_running_until_release
    Pelton.run do
      reactor = Pelton::Reactor.current
      reactor.hold
      Thread.new do
        reactor.schedule { @log << :scheduled }
        eventually { !@log.empty? }
        reactor.release
      end
    end

    assert_equal [:scheduled], @log
  end

  def test_workers_are_pooled_but_not_without_limit
    Pelton.run { 400.times { Pelton.spawn { sleep 0.002 } } }
    kept = Pelton.stats[:workers]

    assert_operator kept, :<, 200
    Pelton.run { 400.times { Pelton.spawn { sleep(0.002) && @log << 1 } } }
    assert_equal 400, @log.size
    assert_operator Pelton.stats[:workers], :<, 200
  end

  def test_a_callback_that_does_not_wait_costs_no_fiber
    Pelton.run do
      before = Pelton.stats[:workers]
      100.times { Pelton.next_tick { @log << 1 } }
      100.times { Pelton.spawn { @log << 2 } }
      Pelton::Reactor.current.yield while @log.size < 200

      assert_operator Pelton.stats[:workers] - before, :<=, 1
    end
  end

  def test_a_program_with_one_fiber_never_switches
    reader, writer = IO.pipe
    Pelton.run do
      before = Pelton.stats[:switches]
      5.times do
        sleep 0.0001
        writer.write("x")
        reader.readpartial(1)
      end

      assert_equal before, Pelton.stats[:switches]
    end
  ensure
    [reader, writer].each(&:close)
  end

  def test_raise_in_needs_a_parked_fiber
    Pelton.run do
      reactor = Pelton::Reactor.current

      refute reactor.raise_in(Fiber.new {}, "x")
      assert_equal "here", assert_raises(RuntimeError) { reactor.raise_in(Fiber.current, "here") }.message
      parked = nil
      Fiber.schedule do
        parked = Fiber.current
        sleep
      rescue KeyError => error
        @log << error.message
      end
      assert reactor.raise_in(parked, KeyError, "there")
      assert_raises(TypeError) { reactor.raise_in(parked, 1) }
    end

    assert_equal ["there"], @log
  end

  def test_a_loop_whose_descriptor_somebody_closed_ends_run
    output = ruby_output(<<~RUBY, env: {"PELTON_BACKEND" => "epoll"})
      require "pelton"
      begin
        Pelton.run do
          Pelton.spawn do
            sleep
          ensure
            puts "ensure"
          end
          Pelton.next_tick do
            Dir.children("/proc/self/fd").each do |fd|
              IO.for_fd(fd.to_i).close if File.readlink("/proc/self/fd/" + fd) == "anon_inode:[eventpoll]"
            rescue SystemCallError, ArgumentError
            end
          end
          sleep
        end
      rescue Pelton::Error => error
        puts error.message
      end
    RUBY

    assert_match(/\Aensure\nthe reactor cannot wait.*Bad file descriptor/, output)
  end

  def test_an_unknown_backend_is_named
    _, errors, status = run_ruby("require 'pelton'; Pelton.run {}", env: {"PELTON_BACKEND" => "kqueue"})

    refute status.success?
    assert_match(/PELTON_BACKEND=kqueue is not known: use epoll or poll \(Pelton::Error\)/, errors)
  end

  def test_too_many_open_files_are_an_error_of_the_first_use
    output = ruby_output(<<~RUBY)
      require "pelton"
      files = []
      begin
        loop { files << File.open(File::NULL) }
      rescue Errno::EMFILE
      end
      begin
        Pelton.run { }
      rescue Pelton::Error => error
        puts error.message
      end
      files.each(&:close)
      p Pelton.run { sleep(0.001) && 1 }
    RUBY

    assert_equal "cannot open a reactor: Too many open files\n1\n", output
  end

  private

  def ensuring(name)
    yield
  ensure
    sleep 0.001
    @log << name
  end

  def returning_block
    proc { return 1 }
  end
end
