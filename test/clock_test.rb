# frozen_string_literal: true

require_relative "test_helper"
require "minitest/mock"
require "pelton/clock"

class ClockTest < PeltonTest
  def test_never_goes_back
    times = Array.new(100) { Pelton::Clock.now }

    assert_equal times.sort, times
  end

  def test_does_not_care_for_the_time_of_day
    before = Pelton::Clock.now
    Time.stub(:now, Time.at(0)) { assert_operator Pelton::Clock.now, :>=, before }
  end

  def test_the_time_left_until_a_deadline
    far = Pelton::Clock.now + 1000
    first, second = Pelton::Clock.left(far), Pelton::Clock.left(far)

    assert_includes 0.0..1000.0, first
    assert_operator second, :<=, first
  end

  def test_nothing_is_left_when_a_deadline_is_over
    assert_equal 0.0, Pelton::Clock.left(Pelton::Clock.now - 1)
  end
end
