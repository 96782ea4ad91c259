# frozen_string_literal: true

require_relative "../support/sequel_databases"

# What Sequel's own adapters for SQLite do and extralite's adapter did not: types, schema changes, prepared statements,
# errors.
class SQLiteBehavioursTest < PeltonTest
  include SequelDatabases

  def setup
    super
    @database = connect(sqlite_file, pool: 2)
  end

  def test_stored_values_of_other_types_than_their_columns
    [[:Numeric, [100, 100.1, "100.1", BigDecimal("100.1")], [BigDecimal(100), *[BigDecimal("100.1")] * 3]],
      [:Date, [2_455_979, 2_455_979.1], [Date.jd(2_455_979)] * 2],
      [:DateTime, [1_329_860_756, 2_455_979.5],
        [Time.at(1_329_860_756), Time.at(1_329_825_600)]]].each do |type, values, expected|
      @database.create_table!(:items) { send(type, :value) }
      got = values.map do |value|
        @database[:items].delete && @database[:items].insert(value) && @database[:items].get(:value)
      end

      assert_equal expected, got, type
    end
    @database.create_table!(:items) { Time :value, only_time: true }
    @database[:items].import([:value], [[3661], [3661.000001]])

    assert_equal [Sequel::SQLTime.create(1, 1, 1), Sequel::SQLTime.create(1, 1, 1, 1)],
      @database[:items].select_map(:value)
  end

  def test_numbers_that_are_none
    @database.create_table(:items) { numeric :value }
    texts = %w[0.8e2 NaN Infinity -Infinity]
    texts.each { |text| @database[:items].insert(value: BigDecimal(text)) }

    assert_equal texts, @database[:items].select_map(:value).map { |number| number.to_s("E") }
  end

  def test_booleans_and_expressions_of_them
    @database.create_table(:items) { TrueClass :value }
    @database[:items].insert(true)

    assert_equal [true, 2], @database[:items].get([:value, (Sequel[:value] + :value).as(:twice)])
    @database.integer_booleans = false
    @database[:items].update(value: false)

    assert_equal [false, "f"], @database[:items].get([:value, Sequel.cast(:value, String).as(:text)])
  end

  def test_times_of_the_other_class
    @database.create_table(:items) { DateTime :value }
    @database[:items].insert(Time.at(1, 123_456))

    assert_equal 123_456, @database[:items].get(:value).usec
    @database.use_timestamp_timezones = true
    @database[:items].update(value: Time.at(1))

    assert_match(/[-+]\d{4}\z/, @database[:items].get(Sequel.cast(:value, String)))
    assert_equal Time.at(1), @database[:items].get(:value)
  end

  def test_the_schema_changes
    @database.create_table(:parents) { primary_key :id }
    @database.create_table(:items) do
      primary_key :id
      String :name
      Integer :number
      foreign_key :parent_id, :parents, on_delete: :set_null
    end
    @database.alter_table(:items) do
      drop_column :number
      rename_column :name, :title
      set_column_not_null :title
      add_column :more, String, default: "it's"
      add_index :title, unique: true
    end

    assert_equal %i[id title parent_id more], @database[:items].columns
    assert_equal [[:parent_id]], @database.foreign_key_list(:items).map { |key| key[:columns] }
    assert_equal({items_title_index: {unique: true, columns: [:title]}}, @database.indexes(:items))
    assert_equal "it's", @database.schema(:items).to_h[:more][:ruby_default]
  end

  def test_broken_constraints_by_their_class
    @database.create_table(:parents) { primary_key :id }
    @database.create_table(:items) do
      Integer :a, unique: true
      Integer :b, null: false
      foreign_key :parent_id, :parents
      check { a > 0 }
    end
    items = @database[:items]
    items.insert(a: 1, b: 1)

    assert_raises(Sequel::UniqueConstraintViolation) { items.insert(a: 1, b: 1) }
    assert_raises(Sequel::NotNullConstraintViolation) { items.insert(a: 2) }
    assert_raises(Sequel::CheckConstraintViolation) { items.insert(a: 0, b: 1) }
    assert_raises(Sequel::ForeignKeyConstraintViolation) { items.insert(a: 3, b: 1, parent_id: 9) }
    assert_equal 1, items.count
  end

  def test_prepared_statements_and_bound_values
    @database.create_table(:items) do
      primary_key :id
      String :name
      File :bytes
      DateTime :at
    end
    items = @database[:items]
    id = items.prepare(:insert, :add, name: :$name, bytes: :$bytes,
      at: :$at).call(name: "a", bytes: Sequel.blob("\0\xff"), at: Time.at(1))

    assert_equal [{id: id, name: "a", bytes: "\0\xff".b, at: Time.at(1)}],
      items.where(name: :$name).prepare(:select, :by_name).call(name: "a")
    assert_equal 1, items.where(at: :$at).call(:select, at: Time.at(1)).size
    assert_equal 1, items.where(bytes: :$bytes).call(:select, bytes: Sequel.blob("\0\xff")).size
    assert_equal 1, items.where(name: :$old).prepare(:update, :rename, name: :$new).call(old: "a", new: "b")
    assert_equal 1, items.where(name: :$name).prepare(:delete, :remove).call(name: "b")
    assert_equal 0, items.count
  end

  def test_rows_while_rows_are_read
    @database.create_table(:items) { Integer :number }
    @database[:items].import([:number], (1..4).zip)
    counts = []
    @database[:items].order(:number).each do |row|
      counts << (row[:number] * @database[:items].select_map(:number).size)
    end
    @database[:items].each { break }
    seen = []
    @database[:items].order(:number).paged_each(rows_per_fetch: 2) { |row| seen << row[:number] }

    assert_equal [4, 8, 12, 16], counts
    assert_equal [1, 2, 3, 4], seen
  end
end
