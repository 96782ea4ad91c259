# frozen_string_literal: true

require_relative "../../test_helper"
require "minitest/mock"
require "pelton"

class GroupWaitTest < PeltonTest
  # As when a trap handler strikes before the wait, and waits itself.
  def test_a_task_that_ends_right_before_the_wait_is_noticed
    Pelton.run do
      make = Pelton::Operation.method(:new)
      gate = make.call
      seen = Pelton.timeout(10) do
        Pelton.group do |group|
          group.spawn { gate.await }
          late = lambda do
            gate.succeed(:value)
            Pelton::Reactor.current.yield until group.size.zero?
            make.call
          end
          Pelton::Operation.stub(:new, late) { group.map(&:await) }
        end
      end

      assert_equal [:value], seen
    end
  end
end
