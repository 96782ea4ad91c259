# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/lab/figures"

class LabFiguresTest < PeltonTest
  def test_numbers_with_digits
    assert_equal ["1,234.50", "-", "0.1"], [[1234.5, 2], [nil, 2], [0.1, 1]].map { |value, digits| Pelton::Lab::Figures.number(value, digits) }
  end

  def test_what_is_next_to_nothing_has_no_sign
    assert_equal ["0.0", "0", "-0.1", "-10"], [[-0.04, 1], [-0.4, 0], [-0.06, 1], [-10, 0]].map { |value, digits| Pelton::Lab::Figures.number(value, digits) }
  end

  def test_delimited
    assert_equal %w[1 999 1,000 1,234,567], [1, 999, 1000, 1_234_567].map { |number| Pelton::Lab::Figures.delimit(number) }
  end

  def test_as_many_digits_as_tell_something
    assert_equal ["0", "-", "0.034", "0.312", "1.02", "17.2", "1,150"], [0, nil, 0.034, 0.312, 1.021, 17.23, 1150.4].map { |value| Pelton::Lab::Figures.short(value) }
  end

  def test_times_as_fast
    assert_equal %w[2.0 50], [0.5, 0.02].map { |ratio| Pelton::Lab::Figures.times(ratio) }
  end

  def test_counted_nouns
    assert_equal ["1 round", "1,000 rounds"], [1, 1000].map { |number| Pelton::Lab::Figures.count(number, "round") }
  end

  def test_doubt_is_rounded_up
    assert_equal ["", "±?", "±3 %"], [0.0, nil, 0.021].map { |share| Pelton::Lab::Figures.doubt(share) }
  end
end
