# frozen_string_literal: true

require_relative "helper"

class EventMachinePoolTest < EventMachineTest
  def test_a_resource_is_free_again_when_the_deferrable_is_settled
    log = []
    em do
      pool = EM::Pool.new
      pool.add(:one)
      first = EM::DefaultDeferrable.new
      pool.perform { |resource| first.tap { log << [1, resource] } }
      pool.perform { |resource| EM::DefaultDeferrable.new.tap { log << [2, resource] } }

      assert_equal 1, pool.num_waiting
      first.succeed
      assert_equal 0, pool.num_waiting
      EM.stop
    end

    assert_equal [[1, :one], [2, :one]], log
  end

  def test_a_failed_resource_goes_to_on_error_and_a_removed_one_is_not_used
    failed = nil
    em do
      pool = EM::Pool.new
      pool.on_error { |resource| failed = resource }
      pool.add(:one)
      pool.perform { EM::DefaultDeferrable.new.tap(&:fail) }
      pool.add(:two)
      pool.remove(:two)
      pool.perform { flunk }

      assert_empty pool.contents
      EM.stop
    end

    assert_equal :one, failed
  end

  def test_work_that_raises_fails_its_resource
    failed = nil
    assert_raises(RuntimeError) do
      em do
        pool = EM::Pool.new
        pool.on_error { |resource| failed = resource }
        pool.add(:one)
        pool.perform { raise "broken" }
      end
    end

    assert_equal :one, failed
  end
end
