# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/test"
require "minitest/mock"
require "stringio"

class BackgroundTest < PeltonTest
  include Pelton::Test

  def setup
    super
    Pelton::Background.reactor = nil # a test before this one may have run a server
    @work = Pelton::Background.new(concurrency: 2, queue: 1)
    @log = []
  end

  def test_work_runs_beside_and_is_finished_at_the_end
    in_reactor do
      gate = Thread::Queue.new
      3.times { |number| @work.run("work #{number}") { @log << gate.pop } }

      assert_empty @log
      turn 2
      assert_raises(Pelton::Background::Full) { @work.run {} }
      3.times { |number| gate << number }

      assert @work.stop
    end

    assert_equal [0, 1, 2], @log.sort
    assert_equal 0, @work.size
  end

  def test_no_more_than_the_limit_at_a_time
    running = most = 0
    in_reactor do
      3.times do
        @work.run { (most = [most, running += 1].max) && sleep(0.001) && (running -= 1) }
      end
      @work.stop
    end

    assert_equal 2, most
  end

  def test_after_the_end_nothing_is_taken
    in_reactor do
      @work.stop

      assert_raises(Pelton::ClosedError) { @work.run {} }
    end
  end

  def test_it_may_be_started_again
    in_reactor do
      2.times do |number|
        @work.start
        @work.run { sleep(0.001) && @log << number }
        @work.stop
      end
      @work.start.run { sleep(0.001) && @log << 2 }
      turn 3

      assert Pelton::Background.stop_all
    end

    assert_equal [0, 1, 2], @log
  end

  def test_what_takes_too_long_is_cancelled_and_logged
    lines = logged do
      2.times do |number|
        @work.run("slow #{number}") do
          sleep
        ensure
          @log << number
        end
      end
      @work.run("waiting") { @log << :never }
      turn

      refute @work.stop(timeout: 0.01)
      turn 2
    end

    assert_equal [0, 1], @log
    assert_equal ["waiting (it had not begun)", "slow 0 (it is cancelled)", "slow 1 (it is cancelled)"], lines
  end

  def test_work_with_a_later_time
    lines = logged do
      @work.run("first", after: 0.001) { @log << :first }
      eventually { @log.any? }
      @work.run("second", after: 3600) { @log << :never }
      @work.run("third", after: 3600) { @log << :never }

      assert_equal 2, @work.size
      refute @work.stop
    end

    assert_equal [:first], @log
    assert_equal ["second (its time had not come)", "third (its time had not come)"], lines
  end

  # As after a second signal: nobody has called stop.
  def test_what_a_reactor_loses_that_stops_by_itself
    lines = logged do
      2.times { |number| @work.run("running #{number}") { sleep } }
      @work.run("waiting") { @log << :never }
      turn
    end

    assert_equal ["running 0 (it is cancelled)", "running 1 (it is cancelled)", "waiting (it had not begun)"],
      lines.sort
    lines = logged do
      @work.run("later", after: 3600) { @log << :never }
      @work.every(3600) { @log << :never }
      @work.start
      turn
    end

    assert_equal ["later (its time had not come)"], lines
    assert_empty @log
    assert_equal 0, @work.size
  end

  def test_work_keeps_a_program_going_and_periodic_work_does_not
    Pelton.run do
      @work.every(3600) { @log << :never }
      @work.start
      @work.run { sleep(0.001) && @log << :now }
      @work.run(after: 0.002) { @log << :later }
    end

    assert_equal %i[now later], @log
  end

  def test_work_of_other_threads_runs_on_the_reactor_of_the_server
    Pelton.run do
      Pelton::Background.reactor = Pelton::Reactor.current
      Array.new(3) { Thread.new { @work.run { sleep(0.001) && @log << Thread.current } } }.each(&:value)
      error = Thread.new do
        assert_predicate Pelton::Background, :available?
        assert_raises(Pelton::Background::Full) { 4.times { @work.run { sleep 3600 } } }
      end.value

      assert_match(/raise concurrency:/, error.message)
      @work.stop(timeout: 0.01)
    ensure
      Pelton::Background.reactor = nil
    end

    assert_equal [Thread.current], @log.uniq
  end

  def test_what_a_thread_has_given_up_to_hand_in_is_not_done
    Pelton.run do
      Pelton::Background.reactor = Pelton::Reactor.current
      thread = Thread.new { @work.run { @log << :never } }
      thread.report_on_exception = false
      Thread.pass until thread.stop? # the loop does not turn meanwhile
      thread.raise(IOError)
      Thread.pass while thread.alive?
      turn 3

      assert_raises(IOError) { thread.value }
    ensure
      Pelton::Background.reactor = nil
    end

    assert_empty @log
  end

  def test_after_the_servers_end_nothing_is_taken_from_threads
    Pelton::Background.reactor = false

    assert_predicate Pelton::Background, :available?
    error = assert_raises(Pelton::ClosedError) { @work.run { @log << :never } }
    assert_equal "the server stops: no more work is taken", error.message
    assert_empty @log
  ensure
    Pelton::Background.reactor = nil
  end

  def test_all_that_have_work_are_stopped_together
    others = Array.new(2) { Pelton::Background.new }
    in_reactor do
      [@work, *others].each { |work| work.run { sleep(0.001) && @log << work } }

      assert Pelton::Background.stop_all(timeout: 5)
      assert_equal [@work, *others], @log
      [@work, *others].each { |work| assert_raises(Pelton::ClosedError) { work.run {} } }
    end
  end

  def test_work_of_another_threads_reactor_is_left_alone
    other = Pelton::Background.new
    begun, gate = Array.new(2) { Thread::Queue.new }
    thread = Thread.new do
      Pelton.run { other.run { (begun << true) && @log << gate.pop } }
    end
    begun.pop
    in_reactor do
      Pelton::Background.drain_all(timeout: 0.001)

      assert Pelton::Background.stop_all(timeout: 0.001)
    end
    gate << :finished
    thread.value

    assert_equal [:finished], @log
  end

  def test_errors_are_reported_and_the_next_turn_comes
    errors = []
    before = Pelton.on_error { |error| errors << error.message }
    Pelton.run do
      @work.run { raise "once" }
      @work.every(0.001) do
        @log << :turn
        raise "turn" if @log.size == 1
      end
      @work.start
      eventually { @log.size >= 3 }
      @work.stop
      count = @log.size
      sleep 0.01

      assert_equal count, @log.size
    end

    assert_equal %w[once turn], errors
  ensure
    Pelton.on_error(&before)
  end

  def test_a_turn_that_has_begun_is_finished
    in_reactor do
      begun = Thread::Queue.new
      @work.every(0.001) do
        begun << true
        sleep 0.01
        @log << :finished
      end
      @work.start
      begun.pop
      @work.stop
    end

    assert_equal [:finished], @log
  end

  def test_draining_waits_for_what_runs_and_waits_and_takes_more_work_afterwards
    logged do
      2.times { |number| @work.run { sleep(0.001) && @log << number } }
      @work.run(after: 60) { flunk }
      Pelton::Background.drain_all

      assert_equal 2, @log.size
      @work.run { @log << :more }
      2.times { @work.drain }

      assert_equal :more, @log.last
      assert_equal 1, @work.size
      @work.stop
    end
  end

  # As when a trap handler strikes before the wait, and waits itself.
  def test_work_that_ends_right_before_the_wait_is_noticed
    in_reactor do
      make = Pelton::Operation.method(:new)
      gate = make.call
      @work.run { gate.await }
      late = lambda do
        gate.succeed
        Pelton::Reactor.current.yield until @work.size.zero?
        make.call
      end

      assert_nil Pelton::Operation.stub(:new, late) { @work.drain(timeout: 10) }
    end
  end

  def test_draining_has_a_time_limit
    logged do
      @work.run { sleep }

      assert_raises(Pelton::TimeoutError) { @work.drain(timeout: 0.01) }
      @work.stop(timeout: 0)
    end
  end

  def test_without_a_reactor_it_runs_now
    @work.run { @log << :now }

    assert_equal [:now], @log
    assert_raises(Pelton::NotRunningError) { @work.start }
    refute_predicate Pelton::Background, :available?
    [{concurrency: 0}, {concurrency: nil}, {queue: -1}].each do |options|
      assert_raises(ArgumentError) { Pelton::Background.new(**options) }
    end
    [0, -1, nil].each { |seconds| assert_raises(ArgumentError) { @work.every(seconds) {} } }
    assert_raises(ArgumentError) { @work.every(1) }
  end

  private

  # What is logged as lost while the block runs in a reactor.
  def logged(&block)
    before, said = Pelton.logger, StringIO.new
    Pelton.logger = said
    in_reactor(leftovers: true, &block)
    said.string.lines(chomp: true).map { |line| line.delete_prefix("pelton: the process stops and loses: ") }
  ensure
    Pelton.logger = before
  end
end
