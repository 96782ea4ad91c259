# frozen_string_literal: true

require "bigdecimal"
require "test_helper"
require "pelton/sequel"
require "pelton/sequel/page"

class SequelCursorValueTest < PeltonTest
  def value(type, stored = type.to_s, **schema)
    Pelton::Sequel::Page::CursorValue.new(:sqlite, :age, {type: type, db_type: stored, **schema})
  end

  def test_values_come_back
    time = Time.at(1_700_000_000, 123_456, :usec)
    {integer: [0, -5, 2**63 - 1], float: [0.1, -1e300, Float::INFINITY, 3],
     decimal: [BigDecimal("0.1"), BigDecimal("-123456789.987654321")], boolean: [true, false],
     string: ["", "é'", "a\n"], blob: [Sequel::SQL::Blob.new("\xff\0".b)]}.each do |type, values|
      values.each { |one| assert_equal one, round(value(type), one), "#{type} #{one.inspect}" }
    end
    assert_nil round(value(:integer), nil)
    at = round(Pelton::Sequel::Page::CursorValue.new(:postgres, :at, {type: :datetime, db_type: "timestamp"}), time)

    assert_equal time, at
    assert_equal time.utc_offset, at.utc_offset
  end

  def test_what_is_no_value_of_the_type
    {integer: ["1", 1.5, true, 2**63, []], float: ["1", true, []], decimal: [1, "1e5", "x", "9" * 2000],
     boolean: ["t", 2], string: ["\0", "\xff", [], {}, true], blob: ["%%%", 5]}.each do |type, values|
      values.each do |one|
        assert_raises(Pelton::Sequel::InvalidCursor, "#{type} #{one.inspect[0, 50]}") { value(type).load(one) }
      end
    end
    assert_raises(Pelton::Sequel::InvalidCursor) { value(:enum, enum_values: %w[a b]).load("c") }
    assert_raises(ArgumentError) { value(:string).dump(Object.new) }
  end

  private

  def round(value, one) = value.load(JSON.parse(JSON.generate([value.dump(one)])).first)
end
