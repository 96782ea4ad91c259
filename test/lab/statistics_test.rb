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
end
