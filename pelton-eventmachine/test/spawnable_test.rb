# frozen_string_literal: true

require_relative "helper"

class EventMachineSpawnableTest < EventMachineTest
  def test_a_process_is_called_with_each_notification_and_is_self
    seen = []
    em do
      EM.spawn do |count|
        seen << count
        (count > 0) ? notify(count - 1) : EM.stop
      end.notify(2)
    end

    assert_equal [2, 1, 0], seen
  end

  def test_a_yielded_block_is_called_by_the_next_notification
    seen = []
    em do
      process = EM.spawn do
        seen << 1
        EM.yield do
          seen << 2
          EM.yield_and_notify do
            seen << 3
            EM.stop
          end
        end
      end
      process.run
      process.resume
    end

    assert_equal [1, 2, 3], seen
  end
end
