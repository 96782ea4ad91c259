# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
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
        -> { Fiber.new { ensuring(:inner) { sleep } }.resume },
        -> { Enumerator.new { Pelton::Operation.new.await }.next }]
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

  # As a trap handler does that runs while the stop makes its exceptions.
  def test_fibers_go_on_while_the_stop_makes_its_exceptions
    assert_equal "50\ntrue\n", ruby_output(<<~RUBY)
      require "pelton"
      Pelton::Cancelled.prepend(Module.new do
        def initialize(...)
          sleep 0.002
          super
        end
      end)
      started, ended = 0, Hash.new(0)
      Pelton.run do
        50.times do |n|
          Pelton.spawn do
            started += 1
            sleep n * 0.001
            ended[:slept] += 1
          ensure
            ended[:all] += 1
          end
        end
        sleep 0.0001 until started == 50
        Pelton.stop
      end
      p ended[:all], (ended[:slept] > 10)
    RUBY
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

  def test_a_fiber_that_swallows_cancelled_has_the_grace_time_and_is_then_ended
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
        @log << :ended
        sleep
        @log << :never
      end
      Pelton.next_tick { Pelton.stop }
    end

    assert_equal [:swallowed, :ended], @log
    expected =
      /1 fiber.* were ended:\n +#<Pelton::Task waiting from #{__FILE__}:\d+ at #{__FILE__}:\d+:in .*sleep'>$/
    assert_match expected, output.string
    assert_equal 0, Pelton.stats[:parked]
    assert_empty Pelton.tasks
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

  # Ruby keeps the queue of a Mutex on the stacks of the fibers that wait for it, and unlocks the Mutex when its thread
  # ends.
  MUTEX = <<~RUBY
    require "pelton"
    Pelton.logger = nil
    mutex = Mutex.new
    holds = -> { mutex.lock; begin; sleep; ensure; sleep; end }
    waits = -> { begin; sleep; ensure; mutex.lock; end }
    both = ->(stop) do
      Pelton.run(grace: 0.05) do
        Pelton.spawn(&holds)
        2.times { Pelton.spawn(&waits) }
        Pelton.next_tick(&stop) && sleep
      end
    end
  RUBY

  def test_the_process_ends_well_after_fibers_were_given_up_that_hold_a_mutex_and_wait_for_it
    assert_equal "ended true", ruby_output(MUTEX + <<~'RUBY')
      both.call(Pelton.method(:stop).to_proc)
      print "ended #{mutex.locked?}" # buffered, and lost when Ruby aborts
    RUBY
  end

  def test_the_process_ends_by_its_signal_after_such_fibers_were_given_up
    output, errors, status = run_ruby(MUTEX + 'print "buffered"; both.call(-> { Process.kill(:TERM, Process.pid) })')

    assert_equal "buffered", output
    assert_empty errors.lines.grep_v(/ASan|False positive|sanitizers/).join # ASAN says that it knows no fibers
    assert_equal Signal.list["TERM"], status.termsig
  end

  def test_a_thread_ends_well_after_such_fibers_were_given_up
    assert_equal "ended false", ruby_output(MUTEX + <<~'RUBY')
      Thread.new { both.call(Pelton.method(:stop).to_proc) }.join
      mutex.synchronize { Thread.pass }
      print "ended #{mutex.locked?}"
    RUBY
  end

  # The first fiber leaves its Mutex because it waits for another one; it goes from there to the next fiber, and to a
  # thread at last.
  def test_fibers_that_leave_a_mutex_pass_it_on
    assert_equal "locked by a thread", ruby_output(MUTEX + <<~RUBY)
      other = Mutex.new
      over = Queue.new
      Thread.new do
        Pelton.run(grace: 0.05) do
          Pelton.spawn { other.lock; begin; sleep; ensure; sleep; end }
          Pelton.spawn { mutex.synchronize { begin; sleep; ensure; other.lock; end } }
          2.times { Pelton.spawn { begin; sleep; ensure; mutex.synchronize {}; end } }
          Pelton.next_tick { Pelton.stop }
        end
        over << true
        sleep
      end
      over.pop
      print "locked by a thread" if mutex.lock
    RUBY
  end
end
