# frozen_string_literal: true

require_relative "../support/sequel_databases"

# What the adapter does is in database/sqlite/.
class PeltonSqliteAdapterTest < PeltonTest
  include SequelDatabases

  def test_sequel_finds_it
    database = Sequel.connect(adapter: :pelton_sqlite, keep_reference: false)

    assert_equal [1, {default: 1}], [database.get(1), database.pool.shards.transform_values(&:max)]
  end

  def test_a_file_has_readers
    database = Sequel.connect(adapter: :pelton_sqlite, database: sqlite_file.delete_prefix("sqlite://"), max_connections: 3, keep_reference: false)
    database.create_table(:items) { primary_key :id }
    database[:items].insert

    assert_equal [1, {default: 1, read_only: 3}], [database[:items].count, database.pool.shards.transform_values(&:max)]
  ensure
    database&.disconnect
  end
end
