# frozen_string_literal: true

require_relative "../../test_helper"
require "pelton"

# Timeout.timeout, on the scheduler's hook timeout_after.
class SchedulerTimeoutTest < PeltonTest
  self.deadline = 15

  # The thread's reactor serves other tests, too.
  def setup
    @timers = Pelton.stats[:timers] # other tests may have left some, which may fire
  end

  def test_the_value_when_it_is_done_in_time
    Pelton.run do
      assert_equal 3, Timeout.timeout(5) { |seconds| sleep(0) + 3 if seconds == 5 }
      assert_operator Pelton.stats[:timers], :<=, @timers
    end
  end

  def test_an_error_when_the_time_is_over
    error = Pelton.run { assert_raises(Timeout::Error) { Timeout.timeout(0.001) { wait_here } } }

    assert_equal "execution expired", error.message
    # The cause has it in Ruby 3.4
    assert_match(/wait_here/, [error, error.cause].compact.flat_map(&:backtrace).join("\n"))
  end

  def test_others_go_on
    log = []
    Pelton.run do
      Pelton.spawn { 3.times { |i| sleep(0) && log << i } }
      log << assert_raises(Timeout::Error) { Timeout.timeout(0.02) { sleep } }.class
    end

    assert_equal [0, 1, 2, Timeout::Error], log
  end

  def test_the_default_error_cannot_be_rescued_inside
    log = []
    Pelton.run do
      assert_raises(Timeout::Error) do
        Timeout.timeout(0.001) do
          sleep
        rescue Timeout::Error
          log << :rescued
        ensure
          log << :ensure
        end
      end
    end

    assert_equal [:ensure], log
  end

  def test_an_error_class_of_the_caller_can_be_rescued_inside
    Pelton.run do
      value = Timeout.timeout(0.001, KeyError, "too late") do
        sleep
      rescue KeyError => error
        error.message
      end

      assert_equal "too late", value
    end
  end

  def test_even_a_rescue_of_exception_does_not_hide_the_timeout
    Pelton.run do
      assert_raises(Timeout::Error) do
        Timeout.timeout(0.001) do
          sleep
        rescue Exception # standard:disable Lint/RescueException
          :swallowed
        end
      end
    end
  end

  def test_nested
    Pelton.run do
      assert_raises(KeyError) { Timeout.timeout(0.001, KeyError) { Timeout.timeout(5, IndexError) { sleep } } }
      assert_raises(IndexError) { Timeout.timeout(5, KeyError) { Timeout.timeout(0.001, IndexError) { sleep } } }
      value = Timeout.timeout(5) { assert_raises(Timeout::Error) { Timeout.timeout(0.001) { sleep } } && :goes_on }

      assert_equal :goes_on, value
      assert_operator Pelton.stats[:timers], :<=, @timers
    end
  end

  def test_leaving_the_block_in_other_ways
    Pelton.run do
      assert_equal 1, Timeout.timeout(5) { break 1 }
      assert_equal 2, catch(:out) { Timeout.timeout(5) { throw :out, 2 } }
      assert_equal 3, leave_by_return
      assert_raises(KeyError) { Timeout.timeout(5) { raise KeyError } }
      assert_operator Pelton.stats[:timers], :<=, @timers
    end
  end

  def test_wherever_the_fiber_waits
    reader, _writer = IO.pipe
    child = Process.spawn("sleep 20")
    Pelton.run do
      parked = Pelton.stats[:parked]
      waits = [-> { reader.read(1) }, -> { Queue.new.pop }, -> { Process.wait(child) },
        -> { Pelton::Operation.new.await },
        -> { Pelton.select([reader]) }, -> { Thread.new { sleep }.join }]
      waits.each { |wait| assert_raises(Timeout::Error) { Timeout.timeout(0.01) { wait.call } } }

      assert_equal parked, Pelton.stats[:parked]
    end
  ensure
    Process.kill("KILL", child) && Process.wait(child)
  end

  # The fiber has resumed another one, which is parked: nothing can be raised in it before that fiber returns.
  def test_a_fiber_that_has_resumed_another
    log = []
    Pelton.run do
      error = assert_raises(Timeout::Error) do
        Timeout.timeout(0.001) { Fiber.new { sleep(0.02) && log << :inner }.resume && log << :outer }
      end
      log << error.class
      assert_raises(Timeout::Error) do
        Timeout.timeout(0.001) { Fiber.new { sleep(0.02) }.resume && sleep && log << :never }
      end
    end

    assert_equal [:inner, :outer, Timeout::Error], log
  end

  def test_in_a_fiber_of_schedule
    log = []
    Pelton.run { Fiber.schedule { log << assert_raises(Timeout::Error) { Timeout.timeout(0.001) { sleep } }.class } }

    assert_equal [Timeout::Error], log
  end

  # The stack of a fiber that nobody can resume is freed, before its timeout comes or when its thread has ended.
  def test_a_fiber_that_is_never_resumed
    assert_equal "well\n", ruby_output(<<~RUBY)
      require "pelton"
      require "timeout"
      leave = ->(seconds) { Fiber.new { Timeout.timeout(seconds) { Fiber.yield } }.resume }
      reuse = -> { GC.start && Array.new(300) { Fiber.new { [Fiber.yield] }.tap(&:resume) } }
      Pelton.run do
        200.times { leave.call(0.02) }
        reuse.call
        sleep 0.03
        10.times { leave.call(100) }
      end
      5.times { Thread.new { Pelton.run { 100.times { leave.call(100) } } }.join && reuse.call }
      Pelton.run { sleep 0.001 }
      puts "well"
    RUBY
  end

  # Its pending exception outlives the run.
  def test_a_fiber_that_is_resumed_in_the_next_run
    log = []
    fiber = Fiber.new do
      Timeout.timeout(0.001) { Fiber.yield && log << :resumed && sleep }
    rescue Timeout::Error => error
      log << error.class
    end
    Pelton.run do
      fiber.resume
      sleep 0.005
    end
    Pelton.run { fiber.resume(true) }

    assert_equal [:resumed, Timeout::Error], log
  end

  def test_a_block_that_ends_in_time_leaves_no_timer_behind
    Pelton.run do
      before = Pelton.stats[:timers]
      20.times { Timeout.timeout(1000) { sleep 0 } }
      begin
        Timeout.timeout(1000) { Timeout.timeout(1000) { raise KeyError } }
      rescue KeyError
        catch(:out) { Timeout.timeout(1000) { throw :out } }
      end

      assert_equal before, Pelton.stats[:timers]
    end
  end

  def test_a_thousand_at_once
    Pelton.run do
      tasks = Array.new(1000) { |i| Pelton.spawn { Timeout.timeout(0.001 + i * 0.00001) { sleep } } }

      tasks.each { |task| assert_raises(Timeout::Error) { task.await } }
      assert_operator Pelton.stats[:timers], :<=, @timers
    end
  end

  def test_cancelling_comes_through
    Pelton.run do
      task = Pelton.spawn { Timeout.timeout(5) { sleep } }
      sleep 0
      task.cancel

      assert_raises(Pelton::Cancelled) { task.await }
      assert_operator Pelton.stats[:timers], :<=, @timers
    end
  end

  def test_arguments
    reactor = Pelton::Reactor.current

    assert_raises(ArgumentError) { reactor.timeout_after {} }
    assert_raises(TypeError) { reactor.timeout_after("soon") {} }
    assert_equal [1], reactor.timeout_after(1) { |seconds| [seconds] }
    assert_raises(Timeout::Error) { reactor.timeout_after(0.001) { reactor.kernel_sleep } } # on a fiber that blocks
  end

  private

  def wait_here = sleep

  def leave_by_return = Timeout.timeout(5) { return 3 }
end
