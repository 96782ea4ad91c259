# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class SemaphoreTest < PeltonTest
  def setup
    @semaphore = Pelton::Semaphore.new(2)
  end

  # A task that waits for a permit.
  def waiting = Pelton.spawn { @semaphore.acquire && :got }.tap { sleep 0 }

  def test_no_more_than_the_permits_at_a_time
    inside = most = 0
    Pelton.run do
      10.times do
        Pelton.spawn do
          @semaphore.acquire do
            most = [most, inside += 1].max
            sleep 0.0001
            inside -= 1
          end
        end
      end
    end

    assert_equal 2, most
    assert_equal 2, @semaphore.available
    assert_equal 0, @semaphore.waiting
  end

  def test_the_longest_waiting_fiber_is_served_first_and_none_overtakes
    order = []
    Pelton.run do
      2.times { @semaphore.acquire }
      5.times { |number| Pelton.spawn { @semaphore.acquire && order << number } }
      sleep 0
      5.times do
        @semaphore.release

        refute @semaphore.try_acquire, "a permit that is somebody's already"
      end
    end

    assert_equal [0, 1, 2, 3, 4], order
  end

  def test_the_value_of_a_block
    assert_equal 1, @semaphore.acquire { 1 }
    assert_same @semaphore, @semaphore.acquire
    assert_same @semaphore, @semaphore.release
  end

  def test_an_error_in_the_block_gives_the_permit_back
    assert_raises(IOError) { @semaphore.acquire { raise IOError } }
    assert_equal 2, @semaphore.available
  end

  def test_a_wait_may_time_out
    Pelton.run do
      2.times { @semaphore.acquire }

      assert_raises(Pelton::TimeoutError) { @semaphore.acquire(timeout: 0.001) { flunk } }
      assert_equal 0, @semaphore.waiting
      assert_equal 1, @semaphore.release.available
    end
  end

  def test_a_wait_may_be_cancelled
    Pelton.run do
      2.times { @semaphore.acquire }
      task = waiting
      assert_equal 1, @semaphore.waiting
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }
      assert_equal 0, @semaphore.waiting
    end
  end

  # The permit is handed over first, and the fiber is cancelled before it has noticed.
  def test_a_fiber_that_is_cancelled_with_a_permit_passes_it_on
    Pelton.run do
      2.times { @semaphore.acquire }
      first, second = waiting, waiting
      @semaphore.release
      first.cancel

      assert_raises(Pelton::Cancelled) { first.await }
      assert_equal :got, second.await
      assert_equal 0, @semaphore.available
    end
  end

  def test_no_more_permits_are_given_back_than_were_taken
    assert_match(/no permit is taken/, assert_raises(Pelton::Error) { @semaphore.release }.message)
    assert_equal 2, @semaphore.available
  end

  def test_there_is_a_permit_at_least
    [0, -1, 1.5, nil].each { |permits| assert_raises(ArgumentError) { Pelton::Semaphore.new(permits) } }
  end

  def test_threads_share_it
    inside = most = 0
    lock = Mutex.new
    threads = Array.new(6) do |number|
      Thread.new do
        work = lambda do
          10.times do
            @semaphore.acquire do
              lock.synchronize { most = [most, inside += 1].max }
              Thread.pass
              lock.synchronize { inside -= 1 }
            end
          end
        end
        number.even? ? Pelton.run(&work) : work.call
      end
    end
    threads.each(&:join)

    assert_includes 1..2, most
    assert_equal 2, @semaphore.available
    assert_equal 0, @semaphore.waiting
  end
end
