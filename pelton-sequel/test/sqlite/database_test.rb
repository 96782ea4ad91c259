# frozen_string_literal: true

require_relative "../support/sequel_databases"

# The adapter, by the topics of Sequel's own integration tests.
class SQLiteDatabaseTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect
    @database.create_table(:items) do
      primary_key :id
      String :name, unique: true
      Integer :number
    end
    @items = @database[:items]
  end

  def test_full_text_search_that_is_not_compiled_in
    error = assert_raises(Sequel::DatabaseError) { @database.run("CREATE VIRTUAL TABLE words USING fts9(text)") }

    assert_match(/no such module: fts9: extralite-bundle was compiled without.*-DSQLITE_ENABLE_FTS5/, error.message)
  end

  def test_insert_returns_the_id_and_update_and_delete_the_number_of_rows
    assert_equal 1, @items.insert(name: "a")
    assert_equal 2, @items.insert(name: "b")
    assert_equal 2, @items.update(number: 1)
    assert_equal 0, @items.where(id: 9).update(number: 2)
    assert_equal 1, @items.where(name: "a").delete
    assert_equal 7, @items.insert(id: 7)
  end

  def test_rows_come_as_hashes_in_order
    @items.import(%i[name number], [["a", 1], ["b", 2], ["c", nil]])

    assert_equal [{id: 1, name: "a", number: 1}, {id: 2, name: "b", number: 2}, {id: 3, name: "c", number: nil}],
      @items.order(:id).all
    assert_equal %i[id name number], @items.columns
    assert_equal %w[c b], @items.reverse(:id).limit(2).select_map(:name)
    assert_nil @items.where(id: 9).first
    assert_equal [[1, 2]], @items.where(number: 1).select_map([:number, (Sequel[:number] + 1).as(:next)])
  end

  # More rows than are read at a time, and a second query of the same text on the same connection meanwhile.
  def test_many_rows_and_a_query_within_a_query
    @items.import([:number], Array.new(1000) { |i| [i + 1] })
    sum = 0
    @items.order(:id).each { |row| sum += row[:number] - @items.order(:id).first[:number] }

    assert_equal (0..999).sum, sum
    assert_equal 1000, @items.count
  end

  def test_types_come_back_as_they_were
    @database.create_table(:typed) do
      Date :date
      DateTime :at
      Time :only, only_time: true
      TrueClass :yes
      BigDecimal :price, size: [10, 2]
      Float :ratio
      File :data
      String :text
      Bignum :big
    end
    row = {date: Date.new(2020, 2, 29), at: Time.local(2020, 1, 2, 3, 4, 5.5r), only: Sequel::SQLTime.create(1, 2, 3),
           yes: true,
           price: BigDecimal("12.25"), ratio: 0.5, data: Sequel.blob("a\0\xff".b), text: "ä", big: 2**62}
    @database[:typed].insert(row)

    assert_equal row, @database[:typed].first
    assert_equal [Sequel::SQL::Blob, BigDecimal], @database[:typed].first.values_at(:data, :price).map(&:class)
    assert_equal row, @database.fetch("SELECT * FROM typed WHERE text = ?", "ä").first
    assert_equal row[:at], @database[:typed].from_self(alias: :x).get(Sequel[:x][:at])
    assert_equal({day: row[:date]}, @database[:typed].select(Sequel[:date].as(:day)).first)
    assert_nil @database[:typed].tap { |typed| typed.update(at: nil) }.get(:at)
  end

  def test_booleans_are_conditions
    @database.create_table(:flags) { TrueClass :flag }
    @database[:flags].import([:flag], [[true], [false], [nil]])

    assert_equal [1, 1, 1],
      [{flag: true}, {flag: false}, {flag: nil}].map { |condition| @database[:flags].where(condition).count }
  end

  # Strings from sockets are binary. A blob is never equal to text.
  def test_strings_are_text_whatever_their_encoding_is
    name = "gr\u00fc\u00df"
    @items.insert(name: name.b)
    binary = @database[:items].where(name: :$name)

    assert_equal [name], @items.select_map(:name)
    [name, name.b, name.encode("UTF-16LE"), name.encode("ISO-8859-1")].each do |string|
      assert_equal 1, @items.where(name: string).count
      assert_equal 1, binary.call(:select, name: string).size
    end
    assert_equal ["text"], @items.select_map(Sequel.function(:typeof, :name))
  end

  def test_strings_with_zeros_quotes_and_bytes_that_are_no_utf8
    ["a\0b", "it's \"so\" `x` [y]", "\xff\xfe", "", "--", ";", ":id ? $1"].each_with_index do |string, i|
      @items.insert(id: i + 1, name: string)

      assert_equal string, @items.where(id: i + 1).get(:name)
      assert_equal i + 1, @items.where(name: string).get(:id)
    end
  end

  def test_sql_in_values_stays_a_value
    @items.insert(name: "a'; DROP TABLE items; --")

    assert_equal 1, @items.where(name: "a'; DROP TABLE items; --").count
    assert_raises(Sequel::DatabaseError) { @items.where(Sequel.identifier("na`me") => 1).count }
    assert_equal 1, @items.count
  end

  def test_prepared_statements_by_name
    insert = @items.prepare(:insert, :insert_item, name: :$name, number: :$number)
    find = @items.where(name: :$name).prepare(:first, :find_item)

    assert_equal 1, insert.call(name: "a", number: 1)
    assert_equal 2, insert.call(name: "b", number: nil)
    assert_equal 2, find.call(name: "b")[:id]
    assert_equal({id: 1, name: "a", number: 1}, @database.call(:find_item, name: "a"))
    assert_equal 2, @items.prepare(:update, :change, number: :$n).call(n: 5)
    assert_equal 2, @items.prepare(:delete, :empty).call
  end

  def test_errors_have_sequel_s_classes
    @database.create_table(:children) do
      foreign_key :item_id, :items, null: false
      Integer :age
      check { age > 0 }
    end
    @items.insert(id: 1, name: "a")

    assert_raises(Sequel::UniqueConstraintViolation) { @items.insert(name: "a") }
    assert_raises(Sequel::UniqueConstraintViolation) { @items.insert(id: 1) }
    assert_raises(Sequel::ForeignKeyConstraintViolation) { @database[:children].insert(item_id: 9, age: 1) }
    assert_raises(Sequel::NotNullConstraintViolation) { @database[:children].insert(age: 1) }
    assert_raises(Sequel::CheckConstraintViolation) { @database[:children].insert(item_id: 1, age: 0) }
    error = assert_raises(Sequel::DatabaseError) { @database.fetch("SELECT missing FROM items").all }
    assert_match(/no such column: missing/, error.message)
    assert_raises(Sequel::DatabaseError) { @database.run("SELEKT") }
    assert_equal 1, @items.count
  end

  def test_transactions_and_savepoints
    @database.transaction do
      @items.insert(name: "a")
      @database.transaction(savepoint: true) { @items.insert(name: "b").then { raise Sequel::Rollback } }
      @database.transaction(savepoint: true) { @items.insert(name: "c") }
    end
    assert_raises(RuntimeError) { @database.transaction { @items.insert(name: "d").then { raise "no" } } }
    @database.transaction(rollback: :always) { @items.insert(name: "e") }

    assert_equal %w[a c], @items.order(:id).select_map(:name)
  end

  def test_hooks_after_a_commit_and_a_rollback
    seen = []
    @database.transaction do
      @database.after_commit { seen << [:committed, @items.count] }
      @items.insert(name: "a")
      seen << :inside
    end
    @database.transaction { @database.after_rollback { seen << :rolled_back }.then { raise Sequel::Rollback } }

    assert_equal [:inside, [:committed, 1], :rolled_back], seen
  end

  def test_the_schema_changes_under_prepared_statements
    @items.insert(name: "a", number: 1)
    2.times { assert_equal %i[id name number], @database.fetch("SELECT * FROM items").first.keys }
    @database.alter_table(:items) { drop_column :number }
    @database.alter_table(:items) { add_column :born, Date, default: Date.new(2000, 1, 1) }

    assert_equal({id: 1, name: "a", born: Date.new(2000, 1, 1)}, @database.fetch("SELECT * FROM items").first)
    @database.rename_table(:items, :things)
    assert_equal [:things], @database.tables
    @database.drop_table(:things)
    assert_raises(Sequel::DatabaseError) { @items.count }
  end

  def test_the_schema_changes_on_other_connections
    database = connect(sqlite_file)
    database.create_table(:wide) do
      Integer :a
      Integer :b
      Integer :c
    end
    database[:wide].insert(a: 1, b: 2, c: 3)
    assert_equal({a: 1, b: 2, c: 3}, database.fetch("SELECT * FROM wide").first)
    database.alter_table(:wide) { drop_column :b }

    assert_equal({a: 1, c: 3}, database.fetch("SELECT * FROM wide").first)
  end

  def test_the_schema_can_be_read
    schema = @database.schema(:items).to_h

    assert_equal [:integer, :string, :integer], schema.values.map { |column| column[:type] }
    assert_equal [true, false, false], schema.values.map { |column| column[:primary_key] }
    @database.add_index(:items, :number)
    assert_includes @database.indexes(:items).values.map { |index| index[:columns] }, [:number]
    assert @database.table_exists?(:items)
    refute @database.table_exists?(:nothing)
  end

  def test_upserts_returned_rows_common_table_expressions_and_windows
    @items.insert(name: "a", number: 1)
    @items.insert_conflict(target: :name, update: {number: Sequel[:excluded][:number]}).insert(name: "a", number: 2)
    @items.insert_ignore.insert(name: "a", number: 3)

    assert_equal [[1, 2]], @items.select_map(%i[id number])
    assert_equal [{name: "b"}], @items.returning(:name).insert(name: "b")
    assert_equal 2, @database[:x].with(:x, @items).count
    assert_equal [1, 2], @items.select { row_number.function.over(order: :id).as(:n) }.map(:n)
    assert_equal %w[b], @items.where(name: "b").returning.delete.map { |row| row[:name] }
  end

  def test_several_statements_in_one_string
    @database.run("INSERT INTO items (name) VALUES ('x'); INSERT INTO items (name) VALUES ('y')")

    assert_equal %w[x y], @items.select_order_map(:name)
  end

  def test_foreign_keys_are_on_and_a_file_is_in_wal_mode
    database = connect(sqlite_file)

    assert_equal 1, database.get(Sequel.lit("(SELECT foreign_keys FROM pragma_foreign_keys)"))
    assert_equal "wal", database.fetch("PRAGMA journal_mode").single_value
    assert_equal 1, database.fetch("PRAGMA synchronous").single_value
  end

  def test_integers_out_of_range_are_an_error_when_bound
    assert_raises(Sequel::Error, RangeError) { @items.where(id: :$id).call(:select, id: 2**70) }
  end

  def test_every_query_behaves_the_same_in_a_reactor
    Pelton.run do
      assert_equal 1, @items.insert(name: "a")
      assert_equal 1, @items.count
    end

    assert_equal 1, @items.count
  end
end
