# frozen_string_literal: true

require "test_helper"
require "pelton/lab/statistics"

class LabStatisticsTest < PeltonTest
  Statistics = Pelton::Lab::Statistics

  # The ratio of two lists of values that were measured alternately.
  def ratio(values, base)
    Statistics.ratio(values.each_with_index.map { |value, n| [n, value] },
      base.each_with_index.map { |value, n| [n + 0.45, value] })
  end

  def test_the_median_is_in_the_middle_however_far_the_others_are
    {[9, 1, 3] => 3, [1, 100, 2, 3] => 2.5, [2, 2, 1_000, 1, 2] => 2, [9, 10, 100] => 10}.each do |values, median|
      assert_in_delta median, Statistics.median(values)
    end
  end

  def test_no_values_have_no_median
    assert_nil Statistics.median([])
    assert_nil Statistics.estimate([])
  end

  def test_equal_values_have_an_interval_of_no_width
    assert_equal [2.0, 2.0, 2.0, 0.0], Statistics.estimate([2.0] * 7).then { |estimate| [*estimate, estimate.spread] }
    assert_equal [0.0, 0.0, 0.0, 0.0], Statistics.estimate([0.0] * 7).then { |estimate| [*estimate, estimate.spread] }
  end

  def test_the_interval_is_wider_where_the_values_differ_more
    little = Statistics.estimate([9.9, 10.1, 10.0, 9.8, 10.2, 10.0, 10.1])
    much = Statistics.estimate([7.0, 13.0, 10.0, 8.0, 12.0, 10.0, 11.0])

    assert_operator little.spread, :<, 0.05
    assert_operator much.spread, :>, 0.1
    assert_operator much.low, :<, much.value
    assert_equal much, Statistics.estimate([7.0, 13.0, 10.0, 8.0, 12.0, 10.0, 11.0]),
      "the same values give the same interval"
  end

  def test_one_bad_round_is_outside_of_the_interval
    assert_operator Statistics.estimate([10.0, 10.1, 9.9, 10.0, 10.2, 9.8, 10.0, 10.1, 1_000.0]).high, :<, 11
  end

  def test_few_values_have_no_interval
    estimate = Statistics.estimate([1.0, 2.0])

    assert_equal [1.5, nil, nil, nil], [*estimate, estimate.spread]
    assert estimate.uncertain?(100)
  end

  def test_a_limit_within_the_interval_leaves_uncertainty
    estimate = Statistics::Estimate.new(10, 9, 12)

    assert_equal [false, true, true, false], [8.9, 9, 11.9, 12].map { |limit| estimate.uncertain?(limit) }
    refute Statistics::Estimate.new(10, 10, 10).uncertain?(10), "met"
  end

  def test_a_value_that_is_not_positive_has_no_relative_spread
    assert_nil Statistics::Estimate.new(0, -1, 1).spread
  end

  def test_a_disturbance_of_both_neighbours_does_not_disturb_their_ratio
    values = [1.0, 2.0, 4.0, 8.0, 3.0, 5.0, 7.0]
    estimate = ratio(values, values.map { |value| value * 2 })

    assert_in_delta 0.5, estimate.value
    assert_in_delta 0, estimate.spread
  end

  def test_each_value_is_compared_with_the_one_measured_next_to_it
    assert_in_delta 3, Statistics.ratio([[1, 6.0]], [[0, 2.0], [5, 60.0]]).value
    assert_in_delta 0.1, Statistics.ratio([[4, 6.0]], [[0, 2.0], [5, 60.0]]).value
    assert_in_delta 3, Statistics.ratio([[0, 6.0], [9, 1.0]], [[1, 2.0]]).value, 1e-9, "where the base has fewer"
  end

  def test_a_percentile_is_one_of_the_values
    assert_equal [99, 50, 1, 100],
      [0.99, 0.5, 0.001, 1].map { |share| Statistics.percentile((1..100).to_a.shuffle, share) }
    assert_equal 3, Statistics.percentile([3, 1], 0.99)
    assert_nil Statistics.percentile([], 0.99)
  end

  def test_nothing_is_divided_by_zero
    assert_nil ratio([1.0] * 3, [0.0] * 3)
    assert_in_delta 2, ratio([2.0] * 3, [0.0, 1.0, 1.0]).value
    assert_nil ratio([], [])
  end
end
