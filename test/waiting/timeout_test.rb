# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class TimeoutTest < PeltonTest
  def test_the_value_of_a_block_that_is_in_time
    assert_equal 1, Pelton.run { Pelton.timeout(3600) { sleep(0.001) && 1 } }
    assert_equal 1, Pelton.timeout(3600) { 1 }
  end

  def test_a_block_that_waits_too_long_is_interrupted_where_it_waits
    ended = false
    error = Pelton.run do
      assert_raises(Pelton::TimeoutError) do
        Pelton.timeout(0.001) do
          sleep
        ensure
          ended = true
        end
      end
    end

    assert ended
    assert_equal "the block took longer than 0.001 s", error.message
    assert_match(/#{__FILE__}/, error.backtrace.join)
  end

  # Otherwise a retry inside the block would go on without a limit.
  def test_the_block_cannot_rescue_the_end_of_its_time
    [->(&block) { Pelton.run(&block) }, ->(&block) { block.call }].each do |around|
      log = []
      around.call do
        assert_raises(Pelton::TimeoutError) do
          Pelton.timeout(0.05) do
            begin
              Pelton.timeout(0.001) { sleep }
            rescue => error
              log << error.class
            end
            sleep
          rescue
            log << :rescued
          ensure
            log << :ended
          end
        end
      end

      assert_equal [Pelton::TimeoutError, :ended], log
    end
  end

  # Sinatra rescues them all, and responds, or raises another. On another server no reactor runs.
  def test_what_the_block_makes_of_the_end_of_its_time_does_not_count
    [-> { :rescued }, -> { raise KeyError, "other" }].each do |answer|
      error = assert_raises(Pelton::TimeoutError) do
        Pelton.timeout(0.001) do
          sleep
        rescue Exception # standard:disable Lint/RescueException
          answer.call
        end
      end

      assert_match(/#{__FILE__}/, error.backtrace.join)
    end
  end

  def test_the_block_cannot_rescue_it_as_an_exception_either
    [->(&block) { Pelton.run(&block) }, ->(&block) { block.call }].each do |around|
      error = around.call do
        assert_raises(Pelton::TimeoutError) do
          Pelton.timeout(0.001) do
            sleep
          rescue Exception # standard:disable Lint/RescueException
            :rescued
          end
        end
      end

      assert_match(/#{__FILE__}/, error.backtrace.join)
    end
  end

  def test_an_error_of_the_block_s_own_limit_stays_itself
    [::Timeout::Error, Pelton::TimeoutError].each do |type|
      own = type.new("own")

      assert_same own, assert_raises(type) { Pelton.timeout(3600) { raise own } }
    end
    assert_instance_of ::Timeout::Error,
      assert_raises(::Timeout::Error) { Pelton.timeout(3600) { ::Timeout.timeout(0.001) { sleep } } }
  end

  # Nothing else is ready, so the fiber makes the loop's ticks itself, and is not parked when the time is over.
  def test_a_fiber_that_yields_alone_is_interrupted
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.001) { 1_000_000.times { sleep 0 } } }
    end
  end

  def test_other_fibers_go_on_meanwhile_and_the_fiber_afterwards
    order = []
    Pelton.run do
      Pelton.spawn { order << :other }
      Pelton.timeout(0.001) { sleep }
    rescue Pelton::TimeoutError
      order << :over
      sleep 0.001
      order << :after
    end

    assert_equal %i[other over after], order
  end

  def test_the_outer_limit_counts_when_it_is_over_first
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.001) { Pelton.timeout(3600) { sleep } } }
    end
  end

  def test_the_inner_limit_counts_when_it_is_over_first
    Pelton.run do
      Pelton.timeout(3600) do
        assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.001) { sleep } }
        sleep 0.001
      end
    end
  end

  def test_waits_for_operations_queues_and_locks_end
    mutex = Mutex.new
    Pelton.run do
      Pelton.spawn { mutex.synchronize { sleep } }
      sleep 0

      [-> { Pelton::Operation.new.await }, -> { Queue.new.pop }, -> { mutex.lock }].each do |wait|
        assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.001, &wait) }
      end
      Pelton.stop
    end
  end

  def test_no_error_of_the_timeout_comes_later
    Pelton.run do
      100.times do
        Pelton.timeout(0.0001) { sleep 0.0001 }
      rescue Pelton::TimeoutError
        nil
      end
      sleep 0.005
    end
  end

  def test_no_limit
    assert_equal 1, Pelton.timeout(nil) { 1 }
  end

  def test_a_limit_that_is_over_at_once
    [0, -1].each do |seconds|
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(seconds) { sleep } }
      Pelton.run { assert_raises(Pelton::TimeoutError) { Pelton.timeout(seconds) { sleep } } }
    end
  end

  def test_where_no_reactor_runs
    assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.001) { sleep } }
    assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.001) { Pelton::Operation.new.await } }
  end

  def test_a_block_is_needed
    assert_raises(ArgumentError) { Pelton.timeout(1) }
  end
end
