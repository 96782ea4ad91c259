# frozen_string_literal: true

require "test_helper"
require "pelton/lab/report/number_format"

class LabNumberFormatTest < PeltonTest
  def test_numbers_with_digits
    assert_equal ["1,234.50", "-", "0.1"],
      [[1234.5, 2], [nil, 2], [0.1, 1]].map { |value, digits| Pelton::Lab::NumberFormat.number(value, digits) }
  end

  def test_a_number_that_rounds_to_zero_has_no_sign
    {[-0.04, 1] => "0.0", [-0.4, 0] => "0", [-0.06, 1] => "-0.1", [-10, 0] => "-10"}.each do |arguments, text|
      assert_equal text, Pelton::Lab::NumberFormat.number(*arguments), arguments
    end
  end

  def test_delimited
    assert_equal %w[1 999 1,000 1,234,567],
      [1, 999, 1000, 1_234_567].map { |number| Pelton::Lab::NumberFormat.delimit(number) }
  end

  def test_three_significant_digits
    assert_equal ["0", "-", "0.034", "0.312", "1.02", "17.2", "1,150"],
      [0, nil, 0.034, 0.312, 1.021, 17.23, 1150.4].map { |value| Pelton::Lab::NumberFormat.short(value) }
  end

  def test_speed
    assert_equal %w[0.98 2.0 8.4 50 1,000],
      [1.02, 0.5, 0.119, 0.02, 0.001].map { |ratio| Pelton::Lab::NumberFormat.speed(ratio) }
  end

  def test_counted_nouns
    assert_equal ["1 round", "1,000 rounds"],
      [1, 1000].map { |number| Pelton::Lab::NumberFormat.count(number, "round") }
  end

  def test_a_spread_is_rounded_up
    assert_equal ["", "±?", "±3 %"], [0.0, nil, 0.021].map { |share| Pelton::Lab::NumberFormat.spread(share) }
  end
end
