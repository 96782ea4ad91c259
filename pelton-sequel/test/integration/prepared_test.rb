# frozen_string_literal: true

require "pg"
require_relative "../support/sequel_databases"

class DatabasePreparedOnServerTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect(postgres_address, pool: 1)
    @database.create_table!(:items) do
      primary_key :id
      String :name
      Integer :number
    end
    @items = @database[:items]
    @items.import(%i[name number], [["a", 1], ["b", 2]])
  end

  def test_a_query_that_comes_again_is_prepared_once
    assert_equal [1, 2, nil, 1], %w[a b c a].map { |name| @items.where(name: name).get(:id) }

    assert_equal 1, statements.count { |sql| sql.include?(%("name" = $1)) }
  end

  def test_a_query_without_parameters_and_what_is_never_prepared
    3.times { assert_equal %w[a b], @items.order(:id).select_map(:name) }
    3.times { assert_equal 2, @database.fetch("SELECT 1 AS one; SELECT 2 AS one").get(:one) }
    3.times { @database.run("SET application_name = 'x'") }

    assert_equal 1, statements.count { |sql| sql.include?("ORDER BY") }
    assert_empty statements.grep(/one|SET/)
  end

  # Another connection has changed the types, as a migration does.
  def test_columns_of_another_type
    3.times { |i| @items.insert(name: i.to_s, number: 1) }
    3.times { assert_equal 1, @items.where(name: "a").count }
    3.times { assert_equal 1, @items.where(number: 2).count }
    alter("ALTER COLUMN name TYPE integer USING 7, ALTER COLUMN number TYPE text USING 'n' || number")
    3.times { |i| assert_kind_of Integer, @items.insert(name: "7", number: "x") }

    assert_equal 8, @items.where(name: "7").count
    assert_equal 1, @items.where(number: "n2").count
    assert_equal "n1", @items.order(:id).get(:number)
    alter("ALTER COLUMN name TYPE uuid USING '11111111-2222-3333-4444-555555555555'")
    3.times { assert_equal 8, @items.where(name: "11111111-2222-3333-4444-555555555555").count }
  end

  def test_a_transaction_whose_first_statement_is_old_begins_anew
    3.times { @items.insert(name: "x") }
    alter("ALTER COLUMN name TYPE integer USING 7")
    @database.transaction(isolation: :serializable) do
      @items.insert(name: "7")

      assert_equal "serializable", @database.fetch("SHOW transaction_isolation").get
    end
    @database.transaction { @items.insert(name: "8") && raise(Sequel::Rollback) }

    assert_equal 6, @items.count
    assert_raises(Sequel::DatabaseError) { @items.insert(name: "x") }
  end

  def test_any_other_transaction_fails_once
    3.times { @items.insert(name: "x") }
    alter("ALTER COLUMN name TYPE integer USING 7")
    errors = Array.new(3) do
      @database.transaction do
        @items.count
        @database.transaction(savepoint: true) { @items.insert(name: "7") }
      end
      nil
    rescue Sequel::DatabaseError => error
      error.wrapped_exception.class
    end

    assert_equal [PG::DatatypeMismatch, nil, nil], errors
    assert_equal 7, @items.count
  end

  def test_values_of_each_kind
    [1, "x'y", 1.5, BigDecimal("1.25"), true, nil, Date.new(2020, 1, 2), Time.at(0),
      Sequel.blob("a\0b")].each do |value|
      3.times { assert_equal [value], [@database.get(Sequel.cast(value, type_of(value)).as(:v))] }
    end
    3.times do
      assert_equal [1, 2], @items.where(id: [1, 2]).where { number < 3 }.order(:id).limit(2).offset(0).select_map(:id)
    end
  end

  def test_the_schema_changes_under_a_prepared_statement
    3.times { assert_equal %i[id name number], @items.where(id: 1).first.keys }
    @database.alter_table(:items) { drop_column :number }

    assert_equal %i[id name], @items.where(id: 1).first.keys
    assert_equal 1, @database.pool.size
  end

  def test_they_are_bounded
    limit = Pelton::Sequel::Prepared::STATEMENTS
    (limit + 20).times { |i| 2.times { @items.where(id: 1).select(:id, Sequel.lit(i.to_s).as(:x)).first } }

    assert_operator statements.size, :<=, limit
  end

  def test_errors_and_transactions
    @items.insert(id: 10)
    3.times { assert_raises(Sequel::UniqueConstraintViolation) { @items.insert(id: 10) } }
    3.times { |i| @database.transaction { @items.insert(id: 20 + i).then { raise Sequel::Rollback } } }

    assert_equal 3, @items.count
  end

  def test_nothing_is_prepared_for_pgbouncer
    database = connect(postgres_address, pool: 1, prepared: false)
    3.times { assert_equal 1, database[:items].where(name: "a").get(:id) }
    named = database[:items].where(name: :$name).prepare(:first, :by_name)

    assert_equal 1, named.call(name: "a")[:id]
    assert_empty statements(database)
  end

  private

  def alter(what)
    PG.connect(**postgres_options).tap { |other| other.exec("ALTER TABLE items #{what}") }.close
  end

  def statements(database = @database)
    database.fetch("SELECT statement FROM pg_prepared_statements").map { |row| row[:statement] }
  end

  def type_of(value)
    {Integer => :integer, Float => Float, BigDecimal => :numeric, TrueClass => :boolean, Date => :date,
     Time => :timestamp, Sequel::SQL::Blob => :bytea}.fetch(value.class, :text)
  end
end
