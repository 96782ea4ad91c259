# frozen_string_literal: true

require_relative "sequel_databases"

# What a lookup does on each database: the same as a dataset, but faster. The test says `address`, where the database
# is.
module LookupBehaviours
  include SequelDatabases

  NOON = Time.local(2024, 2, 29, 12, 0, 1)
  ROW = {text: "it's \\ \u00e9\n", short: "x", big: 2**40, amount: BigDecimal("-12.50"), ratio: 0.5, yes: true,
         no: false, at: NOON, day: Date.new(2024, 2, 29),
         bytes: Sequel.blob("a\0\xff".b), nothing: nil}.freeze

  def setup
    super
    @database = connect(address, pool: 2)
    @database.create_table!(:things) do
      primary_key :id
      String :text, text: true
      String :short, size: 20
      Bignum :big
      BigDecimal :amount, size: [10, 2]
      Float :ratio
      TrueClass :yes
      TrueClass :no
      DateTime :at
      Date :day
      File :bytes
      String :nothing
    end
    @database.create_table!(:names) { String :name, size: 100, primary_key: true }
    @things = @database[:things]
    @id = @things.insert(ROW)
  end

  # The block locks the table.
  # @yieldparam keep [Proc] what keeps the lock then
  def check_a_limit_ends_a_find
    lookup = things
    lookup.find(@id)
    Pelton.run do
      held = Queue.new
      blocker = Pelton.spawn { yield -> { held.push(true) && sleep } }
      held.pop
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.1) { lookup.find(@id) } }
      blocker.cancel
    end

    assert_equal "x", lookup.find(@id)[:short]
  end

  def test_a_row_has_the_values_of_a_dataset
    expected = @things.first(id: @id)
    rows = Array.new(3) { things.find(@id) }

    assert_equal [expected] * 3, rows
    assert_equal ROW, rows.first.except(:id)
    assert_equal expected.transform_values(&:class), rows.first.transform_values(&:class)
    assert_equal expected[:text].encoding, rows.first[:text].encoding
  end

  def test_times_follow_the_zones
    zones = [[:utc, nil], [:utc, :local], [:local, :utc], [nil, nil], [:utc, :utc]]
    zones.each do |database, application|
      Sequel.database_timezone, Sequel.application_timezone = database, application
      expected, found = @things.first(id: @id)[:at], things.find(@id)[:at]

      assert_equal expected, found, "#{database}, #{application}"
      assert_equal expected.utc_offset, found.utc_offset, "#{database}, #{application}"
    end
  ensure
    Sequel.default_timezone = nil
  end

  def test_numbers_that_no_column_can_hold
    assert_equal([nil] * 6, [0, -1, 2**31, 2**62, 2**63, -2**100].map { |key| things.find(key) })
  end

  def test_texts
    names = ["Ann", "it's \\ \u00e9\n", "", "$1 ? :name"]
    names.each { |name| @database[:names].insert(name: name) }

    assert_equal(names, names.map { |name| by_name.find(name)[:name] })
    assert_equal names[1], by_name.find(names[1].b)[:name]
    assert_nil by_name.find("nobody")
    assert_nil by_name.find("A\0")
  end

  def test_the_table_is_altered
    lookup = things
    2.times { assert_equal 12, lookup.find(@id).size }
    @database.alter_table(:things) { drop_column :big }

    assert_equal [11, false], lookup.find(@id).then { |row| [row.size, row.key?(:big)] }
    @database.alter_table(:things) do
      add_column :more, Integer, default: 7
      rename_column :short, :shorter
    end

    2.times { assert_equal [12, 7, "x"], lookup.find(@id).then { |row| [row.size, row[:more], row[:shorter]] } }
  end

  def test_it_sees_what_its_transaction_has_written
    @database.transaction do
      @things.where(id: @id).update(short: "new")

      assert_equal "new", things.find(@id)[:short]
      raise Sequel::Rollback
    end

    assert_equal "x", things.find(@id)[:short]
  end

  def test_many_fibers_at_once
    ids = Array.new(50) { |i| @things.insert(short: i.to_s) }
    lookup = things

    assert_equal((0...50).map(&:to_s),
      Pelton.run { Pelton.map(ids, concurrency: nil) { |id| lookup.find(id)[:short] } })
    assert_operator @database.pool.size, :<=, 2
  end

  def test_a_table_that_is_gone
    lookup = things
    lookup.find(@id)
    @database.drop_table(:things)

    2.times { assert_raises(Sequel::DatabaseError) { lookup.find(@id) } }
    assert_equal 1, @database.get(1)
  end

  def test_a_dataset_that_reads_rows_in_its_own_way_has_none
    own = @things.with_extend { define_method(:fetch_rows) { |_sql| self } }

    assert_nil @database.driver.lookup(own, "SELECT * FROM things WHERE id = ")
  end

  private

  def things = lookup(:things, :id)

  def by_name = lookup(:names, :name)

  def lookup(table, column)
    dataset = @database[table]
    @database.driver.lookup(dataset, "SELECT * FROM #{dataset.literal(table)} WHERE #{dataset.literal(column)} = ")
  end
end
