# frozen_string_literal: true

require_relative "helper"

class EventMachineChannelTest < EventMachineTest
  def test_each_item_goes_to_all_subscribers
    log = []
    em do
      channel = EM::Channel.new
      first = channel.subscribe { |item| log << [1, item] }
      channel.subscribe { |item| log << [2, item] }
      channel.pop { |item| log << [3, item] }
      channel.push(:a)
      channel.unsubscribe(first)
      channel << :b

      assert_equal 1, channel.num_subscribers
      EM.stop
    end

    assert_equal [[1, :a], [2, :a], [3, :a], [2, :b]], log
  end
end
