# frozen_string_literal: true

require_relative "helper"

class EventMachineDeferrableTest < EventMachineTest
  def setup
    @deferrable = EM::DefaultDeferrable.new
    @log = []
  end

  def test_callbacks_are_called_at_once_in_their_order
    @deferrable.callback { |value| @log << [1, value] }.callback { |value| @log << [2, value] }.errback do
      @log << :never
    end
    @deferrable.succeed(:value)
    @log << :after
    @deferrable.callback { |value| @log << [3, value] }

    assert_equal [[1, :value], [2, :value], :after, [3, :value]], @log
  end

  def test_without_a_block_nothing_is_added
    assert_same @deferrable, @deferrable.callback
    assert_same @deferrable, @deferrable.errback
    @deferrable.succeed
    @deferrable.fail
  end

  def test_a_callback_may_set_the_status_again
    @deferrable.callback { |*values| @deferrable.succeed(:second).then { @log << values } }
    @deferrable.callback { |*values| @log << values }
    @deferrable.succeed(:first)

    assert_equal [[:second], [:first]], @log
  end

  def test_an_unknown_status_makes_it_pending_again
    @deferrable.succeed(1)
    @deferrable.set_deferred_status(nil)
    @deferrable.callback { |value| @log << value }

    assert_empty @log
    @deferrable.succeed(2)

    assert_equal [2], @log
  end

  def test_cancelled_blocks_are_not_called
    block = proc { @log << :never }
    @deferrable.callback(&block).errback(&block)
    @deferrable.cancel_callback(block)
    @deferrable.cancel_errback(block)
    @deferrable.succeed
    @deferrable.fail

    assert_empty @log
  end

  def test_a_timeout_fails_it
    em do
      @deferrable.errback do |*values|
        @log << values
        EM.stop
      end
      @deferrable.timeout(0.001, :late, 1)
    end

    assert_equal [[:late, 1]], @log
  end

  def test_a_future_is_a_value_or_a_deferrable
    assert_equal 1, EM::Deferrable.future(1)
    assert_equal 2, EM::Deferrable.future(-> { 2 })
    assert_equal 4, EM::Deferrable.future(3) { |value| value + 1 }
    EM::Deferrable.future(@deferrable) { |value| @log << value }
    @deferrable.succeed(5)

    assert_equal [5], @log
  end
end
