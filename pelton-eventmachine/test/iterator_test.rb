# frozen_string_literal: true

require_relative "helper"

class EventMachineIteratorTest < EventMachineTest
  def test_concurrency_limits_the_items_in_progress
    in_progress = most = 0
    seen = []
    em do
      EM::Iterator.new(1..6, 2).each(lambda do |item, iterator|
        seen << item
        most = [most, in_progress += 1].max
        EM.add_timer(0.001) do
          in_progress -= 1
          iterator.next
        end
      end, -> { EM.stop })
    end

    assert_equal (1..6).to_a, seen
    assert_equal 2, most
  end

  def test_map_keeps_the_order
    results = nil
    em do
      EM::Iterator.new([3, 2, 1], 3).map(->(item, step) { EM.add_timer(item / 1000.0) { step.return(item * 2) } },
        lambda do |all|
          results = all
          EM.stop
        end)
    end

    assert_equal [6, 4, 2], results
  end

  def test_inject_passes_an_object_on
    sum = nil
    em do
      EM::Iterator.new([1, 2, 3]).inject(0, ->(before, item, step) { step.return(before + item) }, lambda do |all|
        sum = all
        EM.stop
      end)
    end

    assert_equal 6, sum
  end

  def test_an_empty_list_is_done_at_once_and_a_proc_is_asked_until_it_stops
    log = []
    em do
      EM::Iterator.new([]).each(->(*) { log << :never }, -> { log << :empty })
      left = [1, 2]
      EM::Iterator.new(-> { left.shift || EM::Iterator::Stop }).each(lambda do |item, iterator|
        log << item
        iterator.next
      end, -> { EM.stop })
    end

    assert_equal [1, :empty, 2], log.sort_by { |one| [1, :empty, 2].index(one) }
  end

  def test_mistakes_raise
    em do
      iterator = EM::Iterator.new([1])
      assert_raises(ArgumentError) { iterator.each }
      iterator.each { |_, step| step.next }
      assert_raises(RuntimeError) { iterator.each {} }
      assert_raises(ArgumentError) { EM::Iterator.new([1], 0) }
      EM.stop
    end
  end
end
