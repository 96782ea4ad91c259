# frozen_string_literal: true

require "test_helper"
require "pelton/sequel"
require "pelton/sequel/driver/column_types"

# What needs no server; the rest is in integration/types_test.rb.
class ColumnTypesTest < PeltonTest
  UUID = "11111111-2222-3333-4444-55555555aaaa"

  def setup
    super
    @postgres = Sequel.mock(host: "postgres", keep_reference: false).extend(Pelton::Sequel::ColumnTypes::Postgres)
    @mysql = Sequel.mock(host: "mysql", keep_reference: false).extend(Pelton::Sequel::ColumnTypes::MySQL)
  end

  def test_types
    assert_equal [:uuid, :inet, :inet, :string, :integer, nil],
      types(@postgres, "uuid", "inet", "cidr", "text", "integer", "money")
    assert_equal [:string, :string, :string, :uuid, :inet, :integer, :set],
      types(@mysql, "tinytext", "longtext", "mediumtext", "uuid", "inet6", "year(4)", "set('a')")
  end

  def test_uuids
    [UUID, UUID.upcase, UUID.delete("-"), "{#{UUID}}"].each do |text|
      assert_equal UUID, @postgres.typecast_value(:uuid, text)
    end
    ["garbage", "", "#{UUID}0", "{#{UUID}", "#{UUID}\n", 5, true].each do |value|
      assert_raises(Sequel::InvalidValue, value.inspect) { @postgres.typecast_value(:uuid, value) }
    end
  end

  def test_addresses
    assert_equal "10.0.0.1", @postgres.typecast_value(:inet, "10.0.0.1")
    assert_equal "10.0.0.0/8", @postgres.typecast_value(:inet, IPAddr.new("10.1.2.3/8"))
    assert_equal "::1", @mysql.typecast_value(:inet, "::1")
    ["garbage", "10.0.0.256", "10.0.0.1/99", 5].each do |value|
      assert_raises(Sequel::InvalidValue, value.inspect) { @postgres.typecast_value(:inet, value) }
    end
  end

  # MySQL takes a number for the position of the word.
  def test_words
    assert_equal %w[1 a], [1, :a].map { |value| @mysql.typecast_value(:enum, value) }
    assert_equal "1", @mysql.typecast_value(:set, 1)
  end

  private

  def types(database, *names) = names.map { |name| database.send(:schema_column_type, name) }
end
