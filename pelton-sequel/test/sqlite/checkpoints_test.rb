# frozen_string_literal: true

require_relative "../support/sequel_databases"

class SQLiteCheckpointsTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect(sqlite_file)
    @database.create_table(:texts) { String :text }
    @path = @database.opts[:database]
    @database.checkpoints.instance_variable_set(:@size, 1 << 40) # it would be in the others' way
    @checkpoints = Pelton::Sequel::SQLite::Checkpoints.new(@path, check_every: 5, size: 100_000)
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

  def test_a_log_to_which_writes_do_not_cease_begins_anew
    @checkpoints = Pelton::Sequel::SQLite::Checkpoints.new(@path, check_every: 5, size: 100_000,
      limit: 1_000_000) { |&work| @database.synchronize(&work) }
    writes = 0
    Pelton.run do
      Array.new(4) do
        Pelton.spawn do
          until @checkpoints.restarts == 3
            write(20_000)
            writes += 1
            sleep 0
          end
        end
      end.each(&:await)
    end

    assert_equal writes, @database[:texts].count
    assert_operator File.size("#{@path}-wal"), :<, 1_000_000
  end

  def test_the_log_does_not_begin_anew_while_a_transaction_writes
    @checkpoints = Pelton::Sequel::SQLite::Checkpoints.new(@path, check_every: 1, size: 1, limit: 1) do |&work|
      @database.synchronize(&work)
    end
    Pelton.run do
      @database.transaction do
        write(10)
        sleep 0.05

        assert_equal 0, @checkpoints.restarts
      end
      500.times { @checkpoints.restarts.zero? ? sleep(0.01) : break }
    end

    assert_equal 1, @checkpoints.restarts
    assert_equal 1, @database[:texts].count
  end

  def test_a_reader_of_what_was_before_is_left_alone
    @checkpoints = Pelton::Sequel::SQLite::Checkpoints.new(@path, check_every: 1, size: 1, limit: 1) do |&work|
      @database.synchronize(&work)
    end
    @database.create_table(:numbers) { Integer :number }
    @database[:numbers].import([:number], [*1..1000].zip)
    Pelton.run do
      seen = @database[:numbers].server(:read_only).each_with_index.map do |row, index|
        ((index % 250).zero? && write(10)) || row[:number]
      end
      assert_equal 1000, seen.size
      500.times { @checkpoints.count.zero? ? sleep(0.01) : break }
    end

    assert_equal 1000, @database[:numbers].count
    assert_equal 4, @database[:texts].count
    assert_equal ["ok"], @database.fetch("PRAGMA integrity_check").map(:integrity_check)
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
