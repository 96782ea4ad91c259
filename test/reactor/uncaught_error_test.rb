# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "pelton"
require "stringio"

# Errors that no callback rescues, exit and throw: on_error, the log, and the end of run.
class UncaughtErrorTest < PeltonTest
  include EventLog

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
    assert_match(/uncaught_error_test/, error.backtrace.first)
  end

  def test_a_cancelled_error_of_a_callback_is_no_error
    messages = errors_reported do
      Pelton.run do
        Pelton.add_timer(0) { raise Pelton::Cancelled, "timer" }
        Pelton.add_timer(0) { raise "later" }
      end
    end

    assert_equal ["later"], messages
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

    assert_equal %w[callback fiber operation tick timer], @log[..-3].sort
    assert_equal [:end, "task"], @log.last(2)
  end

  def test_an_error_without_on_error_is_logged
    output = StringIO.new
    Pelton.logger = output
    Pelton.run { Pelton.next_tick { raise "unrescued" } }

    assert_match(/unhandled error.*uncaught_error_test.*unrescued/m, output.string)
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

    assert_equal callers.keys - %i[main fiber], @log # in these two the block does not come that far
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

  private

  def returning_block = proc { return 1 }
end
