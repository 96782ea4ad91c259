# frozen_string_literal: true

require "test_helper"
require "pelton"
require "pelton/active_record/lock_queue"

class LockQueueTest < PeltonTest
  LockQueue = Pelton::ActiveRecord::LockQueue

  def setup
    super
    @queue = LockQueue.new
    @granted = []
    @free = true
  end

  def test_there_is_one_queue_for_each_file_in_a_process
    file = "#{name}.sqlite3"

    assert_same LockQueue.of(file), LockQueue.of(file)
    refute_same LockQueue.of(file), LockQueue.of("another")
  end

  def test_the_first_one_tries_and_the_others_follow_in_their_order
    Pelton.run do
      waiting = Array.new(5) { |i| Pelton.spawn { take(i) { sleep 0.002 } } }
      waiting.each(&:await)
    end

    assert_equal [0, 1, 2, 3, 4], @granted
  end

  def test_threads_without_a_reactor_wait_in_the_same_order
    @free = false
    threads = Array.new(3) do |i|
      Thread.new { take(i) { Thread.pass } }.tap { |thread| Thread.pass until thread.stop? && @queue.any? }
    end
    @free = true
    threads.each(&:join)

    assert_equal [0, 1, 2], @granted
  end

  def test_a_wait_ends_with_its_deadline_and_leaves_the_queue
    Pelton.run do
      refute @queue.wait(LockQueue::Place.new, Pelton::Clock.now - 1)
    end
    refute_predicate @queue, :any?
  end

  def test_one_that_is_cancelled_leaves_the_queue_to_the_next
    @free = false
    Pelton.run do
      waiting = Array.new(2) { |i| Pelton.spawn { take(i) { nil } } }
      sleep 0 until @queue.any?
      waiting.first.cancel
      @free = true
      waiting.last.await
    end

    assert_equal [1], @granted
  end

  private

  # What SQLite does: it asks the queue after each try that failed.
  def take(name)
    place = LockQueue::Place.new
    until @free
      flunk "too late" unless @queue.wait(place, Pelton::Clock.now + 20)
    end
    @free = false
    @granted << name
    yield
    @free = true
    @queue.released
  end
end
