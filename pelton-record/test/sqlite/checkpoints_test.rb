# frozen_string_literal: true

require "test_helper"
require_relative "../support/record_databases"

class SQLiteCheckpointsTest < PeltonTest
  include RecordDatabases

  def setup
    @database = connect(sqlite_file)
    @database.create_table(:texts) { String :text }
    @path = @database.opts[:database]
    @checkpoints = Pelton::Record::SQLite::Checkpoints.new(@path, check_every: 5, size: 100_000)
  end

  def test_a_log_that_is_long_is_copied_beside_the_loop
    Pelton.run do
      10.times { write(50_000) }
      until_copied
    end

    assert_operator @checkpoints.count, :>, 0
    assert_operator File.size(@path), :>, 250_000 # nothing else copies it
  end

  def test_outside_a_reactor_the_writer_copies_it
    5.times { write(50_000) }

    assert_equal 1, @checkpoints.count
  end

  def test_a_short_log_is_left_alone
    20.times { write(10) }

    assert_equal 0, @checkpoints.count
  end

  def test_writes_and_commits_of_a_database_are_seen
    checkpoints = @database.checkpoints
    before = checkpoints.instance_variable_get(:@writes)
    @database[:texts].insert(text: "a")
    @database.transaction {}

    assert_equal before + 2, checkpoints.instance_variable_get(:@writes)
    assert_nil connect.checkpoints
    assert_equal 0, @database.fetch("PRAGMA wal_autocheckpoint").single_value
  end

  private

  def write(bytes)
    @database[:texts].insert(text: "x" * bytes)
    @checkpoints.written
  end

  def until_copied = 500.times { @checkpoints.count.zero? ? sleep(0.01) : break }
end
