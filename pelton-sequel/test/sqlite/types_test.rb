# frozen_string_literal: true

require_relative "../support/sequel_databases"
require "pelton/sequel/sqlite"

class SQLiteTypesTest < PeltonTest
  include SequelDatabases

  Types = Pelton::Sequel::SQLite::Types

  def test_the_declared_type_without_its_size
    assert_equal ["decimal", "double precision", "varchar", ""],
      ["DECIMAL(10, 2)", "double precision", "varchar (255)", ""].map { |type| Types.base(type) }
  end

  def test_truth_is_a_number_or_a_letter
    database = Struct.new(:integer_booleans)

    assert_equal [1, 0], [true, false].map { |value| Types.bind(value, database.new(true)) }
    assert_equal %w[t f], [true, false].map { |value| Types.bind(value, database.new(false)) }
  end

  def test_values_by_their_column_s_type
    assert_equal [true, false, true, false], [1, 0, "t", "F"].map { |value| Types::ALL["boolean"].call(value) }
    assert_equal [BigDecimal("1.5"), "abc"], ["1.5", "abc"].map { |value| Types::ALL["decimal"].call(value) }
    assert_equal [Date.new(2020, 1, 2)] * 2,
      ["2020-01-02", Date.new(2020, 1, 2).jd].map { |value| Types::ALL["date"].call(value) }
    assert_equal Sequel::SQLTime.create(1, 2, 3), Types::ALL["time"].call(3723)
    assert_equal [Sequel::SQL::Blob, String], ["x".b, "x"].map { |value| Types::ALL["blob"].call(value).class }
  end

  def test_times_as_sequel_writes_them
    assert_equal Time.local(2020, 1, 2, 3, 4, Rational(5_000_006, 1_000_000)),
      Types.time("2020-01-02 03:04:05.000006", :local)
    assert_equal Time.utc(2020, 1, 2, 3, 4, Rational(5_000_006, 1_000_000)),
      Types.time("2020-01-02 03:04:05.000006", :utc)
    assert_nil Types.time("2020-01-02 03:04:05.000006", nil)
    ["2020-01-02T03:04:05.000006", "2020-01-02 03:04:05", "2020-01-02 03:04:05.000006+02:00", ""].each do |text|
      assert_nil Types.time(text, :local)
    end
  end

  def test_a_database_in_another_time_zone
    zone = ENV["TZ"]
    ENV["TZ"] = "America/New_York"
    database = connect("sqlite::memory:").tap { |one| one.timezone = :utc }
    database.create_table(:at) { DateTime :at }
    database[:at].insert(at: Time.utc(2020, 1, 2, 3))

    assert_equal "2020-01-02 03:00:00.000000", database.get(Sequel.lit("(SELECT CAST(at AS TEXT) FROM at)"))
    assert_equal Time.utc(2020, 1, 2, 3), database[:at].get(:at)
  ensure
    ENV["TZ"] = zone
  end

  def test_columns_that_a_write_returns
    database = connect("sqlite::memory:")
    database.create_table(:things) do
      primary_key(:id).then { DateTime(:at) }.then { TrueClass(:done) }.then { String(:name) }
    end
    things, at = database[:things], Time.local(2020, 1, 2, 3)

    assert_equal [{at: at, done: true, name: "x RETURNING y"}],
      things.returning(:at, :done, :name).insert(at: at, done: true, name: "x RETURNING y")
    assert_equal [[at, false]], things.returning.update(done: false).map { |row| row.values_at(:at, :done) }
    assert_equal [at], things.returning(:at).where(done: false).delete.map { |row| row[:at] }
    assert_equal at, Class.new(Sequel::Model(things)).create(at: at, name: "y").at
  end

  def test_bound_values
    database = connect
    bound = [Date.new(2020, 1, 2), true, false, :name, BigDecimal("0.1"), nil, 1.5, 7].map do |value|
      Types.bind(value, database)
    end

    assert_equal ["2020-01-02", 1, 0, "name", "0.1", nil, 1.5, 7], bound
    assert_instance_of Extralite::Blob, Types.bind(Sequel.blob("x"), database)
    assert_equal Encoding::UTF_8, Types.bind("x".b, database).encoding
  end
end
