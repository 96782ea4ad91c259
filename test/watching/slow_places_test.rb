# frozen_string_literal: true

require_relative "../test_helper"
require "pelton"

class SlowPlacesTest < PeltonTest
  def setup
    @places = Pelton.const_get(:SlowPlaces).new
  end

  def test_short_calls_stay_in_place
    20.times { made(1) }

    refute @places.slow?(1)
  end

  def test_after_a_long_call_the_next_of_its_place_is_for_another_thread
    made_long(1)

    assert_equal 1, slow_calls(1)
    refute @places.slow?(2)
  end

  def test_twice_as_many_follow_each_time_up_to_a_limit
    turns = Array.new(13) do
      made_long(1)
      slow_calls(1)
    end

    assert_equal [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024], turns
  end

  def test_a_place_is_forgotten_after_many_short_calls
    made_long(1)
    slow_calls(1)
    99.times { made(1) }
    made_long(1)
    assert_equal 2, slow_calls(1)
    100.times { made(1) }
    made_long(1)
    assert_equal 1, slow_calls(1)
  end

  def test_it_does_not_grow_for_ever
    2_500.times { |place| made_long(place) }

    assert_operator (0...2_499).count { |place| @places.slow?(place) }, :<, 1000
    assert @places.slow?(2_499)
  end

  def test_all_is_calm_after_many_short_calls
    999.times { made(1) }
    refute_predicate @places, :calm?
    made(2)
    assert_predicate @places, :calm?
  end

  def test_a_long_call_ends_the_calm
    1000.times { made(1) }
    made_long(2)

    refute_predicate @places, :calm?
  end

  def test_a_call_for_another_thread_ends_the_calm
    made_long(1)
    1000.times { made(2) }
    @places.slow?(1)

    refute_predicate @places, :calm?
  end

  private

  def made(place) = @places.made(place, long: false)

  def made_long(place) = @places.made(place, long: true)

  def slow_calls(place)
    count = 0
    count += 1 while @places.slow?(place)
    count
  end
end
