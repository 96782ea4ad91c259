# frozen_string_literal: true

require_relative "helper"

class EventMachineQueueTest < EventMachineTest
  def test_items_and_blocks_meet_in_order
    log = []
    em do
      queue = EM::Queue.new
      queue.push(1, 2)
      3.times { |i| queue.pop { |item| log << [i, item] } }

      assert_equal 0, queue.size
      assert_equal true, queue.empty?
      assert_equal 1, queue.num_waiting
      queue << 3
      queue << 4

      assert_equal 1, queue.size
      EM.stop
    end

    assert_equal [[0, 1], [1, 2], [2, 3]], log
  end

  def test_a_thread_may_push
    item = nil
    em do
      queue = EM::Queue.new
      queue.pop do |one|
        item = [one, EM.reactor_thread?]
        EM.stop
      end
      Thread.new { queue.push(:from_thread) }
    end

    assert_equal [:from_thread, true], item
  end
end
