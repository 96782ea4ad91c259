# frozen_string_literal: true

require_relative "../support/sequel_databases"

# What each database's lookup does is in support/lookup_behaviours.rb.
class LookupTest < PeltonTest
  include SequelDatabases

  # Finds by a dataset.
  class Slow < Pelton::Sequel::Lookup
    private

    def row(connection, key)
      raise Extralite::SQLError, "no #{key}" if key.zero?
      {connection: connection, key: key, sql: @sql}
    end
  end

  def test_a_find_holds_a_connection_of_those_that_read
    database = connect(sqlite_file)
    row = Slow.new(database[:items], "SELECT ").find(1)

    assert_equal [1, "SELECT "], row.values_at(:key, :sql)
    assert_equal :read_only, database.pool.slot_of(row[:connection]).shard.name
    assert_equal :default,
      database.pool.slot_of(Slow.new(database[:items].server(:default), "").find(1)[:connection]).shard.name
  end

  def test_the_drivers_errors_become_sequels
    database = connect
    error = assert_raises(Sequel::DatabaseError) { Slow.new(database[:items], "SELECT ").find(0) }

    assert_match(/no 0/, error.message)
    assert_equal 0, database.pool.shards[:default].in_use
  end
end
