# frozen_string_literal: true

require_relative "../support/sequel_databases"

class SQLiteDriverTest < PeltonTest
  include SequelDatabases

  def test_a_file_has_one_writer_and_several_readers_and_memory_has_one_connection
    assert_equal({default: 1, read_only: 4}, connect(sqlite_file, pool: 4).pool.shards.transform_values(&:max))
    assert_equal({default: 1}, connect("sqlite::memory:", pool: 4).pool.shards.transform_values(&:max))
  end

  def test_an_interrupted_statement_leaves_its_connection_in_use
    refute_predicate connect.driver, :unusable_after_interruption?
  end
end
