# frozen_string_literal: true

require "test_helper"
require "bigdecimal"
require "pelton/web"
require "pelton/web/views/view"

class WebNumbersTest < PeltonTest
  def view = Pelton::Web::View.new

  def test_delimiters
    {0 => "0", 999 => "999", 1000 => "1,000", -1_234_567 => "-1,234,567", 1234.5 => "1,234.5",
     "12345678" => "12,345,678", 1e20 => "100,000,000,000,000,000,000"}.each do |number, text|
      assert_equal text, view.number_with_delimiter(number)
    end
    assert_equal "1.234,5", view.number_with_delimiter(1234.5, delimiter: ".", separator: ",")
  end

  def test_digits_are_rounded_as_they_are_written
    {[1.005, 2] => "1.01", [2.5, 0] => "3", [-2.5, 0] => "-3", [0.5, 3] => "0.500", [-0.004, 2] => "0.00",
     [1234.5678, 2] => "1234.57", [BigDecimal("0.125"), 2] => "0.13", ["3", 1] => "3.0",
     [Rational(1, 3), 4] => "0.3333", [1e-7, 2] => "0.00", [149, -2] => "100"}.each do |(number, precision), text|
      assert_equal text, view.number_with_precision(number, precision: precision), number.inspect
    end
  end

  def test_money_and_percent
    assert_equal "$1,234.50", view.number_to_currency(1234.5)
    assert_equal "-$0.50", view.number_to_currency(-0.5)
    assert_equal "€3", view.number_to_currency(3, unit: "€", precision: 0)
    assert_equal "$0.00", view.number_to_currency(-0.001)
    assert_equal "12.3%", view.number_to_percentage(12.345)
    assert_equal "100%", view.number_to_percentage(100, precision: 0)
  end

  def test_bytes
    {0 => "0 Bytes", 1 => "1 Byte", 1023 => "1023 Bytes", 1024 => "1 KB", 1536 => "1.5 KB", 1_234_567 => "1.18 MB",
     12_345_678 => "11.8 MB", 5 << 30 => "5 GB", -2048 => "-2 KB",
     (1 << 80) => "1048576 EB", 100 * 1024 => "100 KB"}.each do |bytes, text|
      assert_equal text, view.number_to_human_size(bytes)
    end
    assert_equal "1,5 KB", view.number_to_human_size(1536, separator: ",")
  end

  def test_what_is_no_number_stays_as_it_is
    [nil, "", "x", "1,000", "1e999999999", "<b>", Float::INFINITY, Float::NAN, "\xff", "9" * 1000, [1],
      :a].each do |value|
      %i[number_with_delimiter number_with_precision number_to_currency number_to_percentage
        number_to_human_size].each do |name|
        assert_same value, view.public_send(name, value), "#{name} #{value.inspect[0, 20]}"
      end
    end
  end
end
