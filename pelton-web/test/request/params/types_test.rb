# frozen_string_literal: true

require "test_helper"
require "pelton/web"

class WebParamsTypesTest < PeltonTest
  def test_what_is_right
    {
      integer: {"5" => 5, "-05" => -5, 7 => 7, (2**63 - 1).to_s => 2**63 - 1},
      float: {"1.5" => 1.5, "-2" => -2.0, "1e3" => 1000.0, 3 => 3.0},
      boolean: {"true" => true, "0" => false, "ON" => true, false => false}, string: {"a" => "a", 5 => "5"},
      date: {"2026-02-28" => Date.new(2026, 2, 28)}, time: {"2026-02-28T12:00:00Z" => Time.utc(2026, 2, 28, 12)}
    }.each do |type, cases|
      cases.each { |value, expected| assert_equal [expected], [convert(value, type)], "#{type} #{value.inspect}" }
    end
  end

  def test_what_is_wrong
    {
      integer: ["x", "1.0", "1_000", "0x1", " 1", "1\n", "", "9" * 1_000_000, (2**63).to_s, 2**63, 1.5, [], {}],
      float: ["x", "1e999", "NaN", "1" * 10_000, [], "1.\n"],
      boolean: ["maybe", "2", 1, []], string: [[], {}, true],
      date: ["2026-02-30", "2026-2-3", "today", 5, "2026-02-01\n"],
      time: ["now", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", "2" * 1000, 5],
      file: ["x"], hash: ["x", []], array: ["x", {}]
    }.each do |type, values|
      values.each { |value| assert_raises(Wrong, "#{type} #{value.inspect[0, 50]}") { convert(value, type) } }
    end
  end

  def test_options
    assert_equal "is too long: 2 characters at most", complaint("abc", :string, max: 2)
    assert_equal "has not the right form", complaint("a\n", :string, format: /a/)
    assert_equal "must be in 1..3", complaint("4", :integer, in: 1..3)
    assert_equal "contains an element that must be in 1..3", complaint(%w[1 4], :array, of: :integer, in: 1..3)
    assert_equal [1], convert(["", "1"], :array, of: :integer, max: 1)
    assert_equal %w[a], convert(["", "a", nil], :array)
    assert_equal [], convert([""], :array, of: :integer)
    assert_raises(ArgumentError) { convert("1", :integer, max: 3) }
    assert_raises(ArgumentError) { convert("1", :number) }
  end

  private

  Wrong = Class.new(StandardError)

  def convert(value, type, **options)
    Pelton::Web::Params::Types.convert(value, type, options) { |complaint| raise Wrong, complaint }
  end

  def complaint(...) = assert_raises(Wrong) { convert(...) }.message
end
