# frozen_string_literal: true

require_relative "helper"

class EventMachineCallbackTest < EventMachineTest
  def test_it_takes_a_block_a_callable_or_an_object_and_a_method
    list = []
    EM.Callback { |one| list << one }.call(1)
    EM.Callback(->(one) { list << one }).call(2)
    EM.Callback(list, :push).call(3)

    assert_equal [1, 2, 3], list
    assert_raises(ArgumentError) { EM.Callback() }
  end
end
