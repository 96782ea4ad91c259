# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"

class LimitTest < PeltonTest
  def test_the_error_is_the_caller_s_in_a_reactor_and_outside
    limited = -> do
      assert_equal("late",
        assert_raises(Pelton::Sequel::ConnectionError) do
          Pelton::Sequel.limit(0.01, Pelton::Sequel::ConnectionError, "late") { sleep }
        end.message)
    end
    limited.call
    Pelton.run(&limited)

    assert_equal 1, Pelton::Sequel.limit(nil, RuntimeError, "") { 1 }
    assert_equal 2, Pelton::Sequel.limit(10, RuntimeError, "") { 2 }
  end
end
