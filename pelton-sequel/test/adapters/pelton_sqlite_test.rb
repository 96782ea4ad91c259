# frozen_string_literal: true

require_relative "../support/sequel_databases"

# What the adapter does is in sqlite/.
class PeltonSqliteAdapterTest < PeltonTest
  include SequelDatabases

  def test_sequel_finds_it
    database = Sequel.connect(adapter: :pelton_sqlite, keep_reference: false)

    assert_equal 1, database.get(1)
    assert_equal({default: 1}, database.pool.shards.transform_values(&:max))
  end

  def test_a_file_has_readers
    database =
      Sequel.connect(adapter: :pelton_sqlite, database: sqlite_file.delete_prefix("sqlite://"),
        max_connections: 3, keep_reference: false)
    database.create_table(:items) { primary_key :id }
    database[:items].insert

    assert_equal 1, database[:items].count
    assert_equal({default: 1, read_only: 3}, database.pool.shards.transform_values(&:max))
  ensure
    database&.disconnect
  end

  # As Sequel's own adapter for SQLite has them.
  def test_options_of_the_connection
    {{foreign_keys: false} => ["foreign_keys", 0], {} => ["foreign_keys", 1],
     {synchronous: :full} => ["synchronous", 2], {synchronous: "off"} => ["synchronous", 0],
     {temp_store: :memory} => ["temp_store", 2],
     {auto_vacuum: :full} => ["auto_vacuum", 1]}.each do |options, (pragma, value)|
      Dir.mktmpdir do |folder|
        file = open_file("#{folder}/a.db", **options)

        assert_equal value, file.fetch("PRAGMA #{pragma}").single_value, options.inspect
        assert_equal "wal", file.fetch("PRAGMA journal_mode").single_value
      end
    end
    assert_raises(Pelton::Sequel::ConfigurationError) { open_file(nil, synchronous: :sometimes) }
  end

  def test_like_follows_its_option
    [[true, false], [false, true]].each do |sensitive, found|
      assert_equal found ? 1 : 0, open_file(nil, case_sensitive_like: sensitive).get(Sequel.lit("'A' LIKE 'a'"))
    end
  end

  def test_a_file_may_be_read_only
    path = sqlite_file.delete_prefix("sqlite://")
    open_file(path).create_table(:items) { primary_key :id }

    assert_equal 0, open_file(path, readonly: "true")[:items].server(:read_only).count
    assert_raises(Sequel::DatabaseError) { open_file(path, readonly: true)[:items].insert }
  end

  # In milliseconds, as Sequel's own adapter has it.
  def test_the_time_to_wait_for_a_lock
    path = sqlite_file.delete_prefix("sqlite://")
    holder = open_file(path)
    holder.create_table(:items) { primary_key :id }
    holder.transaction do
      error = assert_raises(Sequel::DatabaseLockTimeout) { open_file(path, timeout: 20)[:items].insert }

      assert_match(/for 0.02 s/, error.message)
    end
  end

  def test_functions_in_ruby_are_refused
    assert_match(/no functions in Ruby/,
      assert_raises(Sequel::Error) { open_file(nil, setup_regexp_function: true) }.message)
  end

  private

  def open_file(path, **options)
    Sequel.connect(adapter: :pelton_sqlite, **{database: path}.compact,
      keep_reference: false, **options).tap { |database| (@connected ||= []) << database }
  end
end
