# frozen_string_literal: true

require "pg"
require "test_helper"
require_relative "../../support/lookup_behaviours"

class PostgresLookupOnServerTest < PeltonTest
  include LookupBehaviours

  def address = postgres_address

  def test_other_types_of_keys
    @database.create_table!(:keys) do
      column :id, :uuid, primary_key: true
      column :number, "numeric(20, 0)", unique: true
    end
    id = "6f1b2a80-0000-4000-8000-000000000001"
    @database[:keys].insert(id: id, number: 2**62)

    assert_equal [id, id], [lookup(:keys, :id).find(id), lookup(:keys, :number).find(2**62)].map { |row| row[:id] }
  end

  def test_a_statement_is_prepared_once_on_each_connection
    lookup = things
    5.times { lookup.find(@id) }
    statements = @database.fetch("SELECT statement FROM pg_prepared_statements").map(:statement)

    assert_equal 1, statements.grep(/"things" WHERE "id" = \$1/).size
  end

  def test_the_schema_changes_in_a_transaction
    lookup = things
    lookup.find(@id)
    @database.transaction do
      @database.alter_table(:things) { drop_column :big }
      assert_raises(Sequel::DatabaseError) { lookup.find(@id) }
      raise Sequel::Rollback
    end

    assert_equal 2**40, lookup.find(@id)[:big]
  end

  def test_a_limit_ends_a_find
    check_a_limit_ends_a_find do |keep|
      @database.transaction do
        @database.run("LOCK TABLE things")
        keep.call
      end
    end
  end

  def test_without_prepared_statements_there_is_none
    database = connect(address, prepared: false)

    assert_nil database.driver.lookup(database[:things], "SELECT * FROM things WHERE id = ")
  end
end
