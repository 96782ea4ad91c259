# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/event_log"
require "pelton"
require "set"

# Fibers that a program makes, resumes and transfers to itself.
class UserFibersTest < PeltonTest
  include EventLog

  # em-synchrony works like this.
  def test_a_fiber_that_yields_is_resumed_by_a_callback
    Pelton.run do
      fiber = Fiber.new do
        current = Fiber.current
        Pelton.add_timer(0.001) { current.resume(:answer) }
        @log << Fiber.yield
        Pelton.next_tick { current.resume(:again) }
        @log << Fiber.yield
      end
      fiber.resume
      @log << :returned
    end

    assert_equal %i[returned answer again], @log
  end

  def test_a_resumed_fiber_parks_together_with_those_that_wait_for_it
    Pelton.run do
      Pelton.spawn { 3.times { sleep(0.001) && @log << :other } }
      inner = Fiber.new { sleep(0.002) && Fiber.new { sleep(0.002) && :value }.resume }
      @log << inner.resume
    end

    assert_equal [:value, :other, :other, :other].to_set, @log.to_set
  end

  def test_resuming_a_parked_fiber_is_an_error_of_the_caller
    Pelton.run do
      parked = nil
      Pelton.spawn { (parked = Fiber.current) && logging_exceptions { sleep 0.003 } }
      Pelton::Reactor.current.yield
      assert_raises(FiberError) { parked.resume }
      assert_raises(FiberError) { Thread.new { parked.raise }.tap { |thread| thread.report_on_exception = false }.join }
    end

    assert_empty @log
  end

  # pel_switch_refused looks for these words.
  def test_ruby_refuses_a_fiber_that_has_resumed_another_one_in_these_words
    resuming, error = Fiber.current, nil
    Fiber.new do
      resuming.transfer
    rescue FiberError => error
    end.resume

    assert_equal "attempt to transfer to a resuming fiber", error.message
  end

  def test_a_foreign_transfer_to_a_parked_fiber_does_not_wake_it
    Pelton.run do
      parked = nil
      task = Pelton.spawn {
        begin
          (parked = Fiber.current) && @log << Pelton::Operation.new.await(timeout: 0.05)
        rescue
          @log << $!.class
        end
      }
      Pelton::Reactor.current.yield
      Pelton.next_tick { parked.transfer } # the callback's fiber never gets control back
      Pelton.next_tick { @log << :next }
      task.await
    end

    assert_equal [:next, Pelton::TimeoutError], @log
  end

  # Ruby's own Enumerator runs its block on a fiber that Ruby calls blocking: Ruby calls no hook there, but Pelton's own
  # methods park.
  def test_an_operation_in_an_enumerator_parks
    Pelton.run do
      task = Pelton.spawn { sleep(0.002) && :value }
      Pelton.spawn { @log << :other }
      @log << Enumerator.new { |values| values << task.await }.next
    end

    assert_equal %i[other value], @log
  end

  # Nothing else refers to them: their places would be taken by the others.
  def test_fibers_that_wait_are_not_collected
    Pelton.run do
      50.times { |number| Fiber.schedule { sleep(0.001) && @log << number } }
      GC.start
      Array.new(100) { Fiber.new {} }.each(&:resume)
      GC.start
    end

    assert_equal [*0...50], @log.sort
  end

  def test_the_state_of_a_fiber_stays_with_it
    Pelton.run { 2.times { |i| Pelton.spawn { use_fiber_state(i) } } }

    assert_equal [[0, "0", "error 0"], [1, "1", "error 1"]], @log
  end

  # Fiber#raise switches to the fiber that waits, and nothing switches back.
  def test_run_raises_when_its_block_has_raised_in_a_parked_fiber_and_never_goes_on
    error = assert_raises(Pelton::Error) do
      Pelton.run do
        fiber = nil
        Pelton.spawn do
          fiber = Fiber.current
          ensuring(:raised) { sleep }
        rescue IOError => error
          @log << error.message
        end
        sleep 0.001 until fiber
        fiber.raise(IOError, "by another fiber")
      end
    end

    assert_match(/never ended.*raise_in/, error.message)
    assert_equal [:raised, "by another fiber"], @log
    assert_equal 1, Pelton.run { sleep(0.001) && 1 }
  end

  def test_a_stop_ends_run_though_its_blocks_fiber_has_switched_away
    value = Pelton.run do
      Pelton.add_timer(0.001) { Pelton.stop(:stopped) }
      Fiber.new {
        begin
          sleep
        rescue Pelton::Cancelled
          @log << :cancelled
        end
      }.transfer
    end

    assert_equal :stopped, value
    assert_equal [:cancelled], @log
  end

  private

  def use_fiber_state(number)
    catch(:tag) do
      Thread.current[:number] = number
      raise "error #{number}"
    rescue
      "a#{number}" =~ /(\d)/
      sleep 0.001
      @log << [Thread.current[:number], $1, $!.message]
      throw :tag
    end
  end
end
