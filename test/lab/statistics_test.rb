# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab/statistics"

class LabStatisticsTest < PeltonTest
  def median(*values)
    Pelton::Lab::Statistics.median(values)
  end

  def test_the_median_of_an_odd_number_is_the_middle_one
    assert_equal 3, median(9, 1, 3)
  end

  def test_the_median_of_an_even_number_lies_between_the_middle_ones
    assert_in_delta 2.5, median(1, 100, 2, 3)
  end

  def test_one_bad_round_does_not_move_it
    assert_equal 2, median(2, 2, 1_000, 1, 2)
  end

  def test_numbers_are_not_compared_as_text
    assert_equal 10, median(9, 10, 100)
  end

  def test_of_nothing_there_is_none
    assert_nil median
  end

  def test_no_doubt_where_all_rounds_agree
    assert_equal 0.0, Pelton::Lab::Statistics.doubt([2.0] * 7, [4.0] * 7)
  end

  def test_rounds_that_differ_leave_doubt_and_more_when_they_differ_more
    base = [10.0] * 7
    little = Pelton::Lab::Statistics.doubt([9.9, 10.1, 10.0, 9.8, 10.2, 10.0, 10.1], base)
    much = Pelton::Lab::Statistics.doubt([7.0, 13.0, 10.0, 8.0, 12.0, 10.0, 11.0], base)

    assert_operator little, :<, 0.05
    assert_operator much, :>, 0.1
    assert_equal much, Pelton::Lab::Statistics.doubt([7.0, 13.0, 10.0, 8.0, 12.0, 10.0, 11.0], base), "the same figures, the same answer"
  end

  def test_what_disturbs_both_in_a_round_does_not_disturb_their_ratio
    values = [1.0, 2.0, 4.0, 8.0, 3.0, 5.0, 7.0]

    assert_in_delta 0, Pelton::Lab::Statistics.doubt(values, values.map { |value| value * 2 })
  end

  def test_without_a_baseline_it_is_the_values
    assert_operator Pelton::Lab::Statistics.doubt([7.0, 13.0, 10.0, 8.0, 12.0]), :>, 0.1
  end

  def test_nobody_knows_from_few_rounds_or_from_nothing
    assert_nil Pelton::Lab::Statistics.doubt([1.0, 1.0], [1.0, 1.0])
    assert_nil Pelton::Lab::Statistics.doubt([1.0] * 3, [0.0] * 3)
  end
end
