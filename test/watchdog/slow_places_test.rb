# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class SlowPlacesTest < PeltonTest
  NEVER = 3600

  def setup
    @places = Pelton::SlowPlaces.new(long: NEVER)
  end

  def test_the_block_s_value_or_error_is_the_call_s
    assert_equal 5, measure(1) { 5 }
    assert_raises(KeyError) { measure(1) { raise KeyError } }
  end

  def test_short_calls_stay_in_place
    20.times { measure(1) }

    refute @places.slow?(1)
  end

  def test_after_a_long_call_the_next_of_its_place_are_for_another_thread
    measure_long(1)

    assert_equal 16, slow_calls(1)
    refute @places.slow?(2)
  end

  def test_a_call_that_fails_may_be_long_too
    assert_raises(KeyError) { measure_long(1) { raise KeyError } }

    assert @places.slow?(1)
  end

  def test_twice_as_many_follow_each_time_up_to_a_limit
    turns = Array.new(9) { measure_long(1) || slow_calls(1) }

    assert_equal [16, 32, 64, 128, 256, 512, 1024, 1024, 1024], turns
  end

  def test_a_place_is_forgotten_after_many_short_calls
    measure_long(1)
    slow_calls(1)
    99.times { measure(1) }
    measure_long(1)
    assert_equal 32, slow_calls(1)
    100.times { measure(1) }
    measure_long(1)
    assert_equal 16, slow_calls(1)
  end

  def test_it_does_not_grow_for_ever
    2_500.times { |place| measure_long(place) }

    assert_operator (0...2_500).count { |place| @places.slow?(place) }, :<=, 1000
    assert @places.slow?(2_499)
  end

  private

  def measure(place, &block) = @places.measure(place, &block || -> {})

  def measure_long(place, &block)
    @places.long = 0
    measure(place, &block)
  ensure
    @places.long = NEVER
  end

  def slow_calls(place)
    count = 0
    count += 1 while @places.slow?(place)
    count
  end
end
