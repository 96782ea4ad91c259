# frozen_string_literal: true

require "logger"
require "stringio"
require_relative "../support/sequel_databases"

# SQLite beside the loop: long statements, locks, interruption.
class SQLiteConnectionTest < PeltonTest
  include SequelDatabases

  def test_the_loop_turns_during_a_long_statement
    database = connect
    Pelton.run do
      count = ticks { database.fetch(long_statement(3_000_000)).single_value }

      assert_operator count, :>, 10
    end
  end

  # Turns of the loop while the block runs.
  def turns
    count = 0
    watch = Pelton.spawn { loop { sleep(0) && count += 1 } }
    sleep 0.001
    count = 0
    yield
    count
  ensure
    watch.cancel
  end

  def test_the_loop_turns_between_few_instructions_that_take_long
    database = connect
    database.create_table(:documents) { String :text }
    text = "{#{(1..2_000).map { |i| %("key#{i}":#{i}) }.join(",")}}"
    database[:documents].import([:text], [[text]] * 1_000)
    Pelton.run do
      assert_operator turns {
        assert_equal 2_000_000, database.get(Sequel.lit("(SELECT sum(json_extract(text, '$.key2000')) FROM documents)"))
      },
        :>,
        2
    end
  end

  def test_the_loop_turns_while_a_fiber_runs_short_statements_without_end
    database = connect
    Pelton.run do
      assert_operator turns { 3_000.times { |i| database.get(i) } }, :>, 5
    end
  end

  def test_a_large_sort_is_done_in_parts
    database = connect(sqlite_file)
    rows =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 300000) SELECT x, hex(randomblob(20)) AS " \
      "t FROM c"
    Pelton.run do
      watched = turns do
        assert_equal 300_000,
          database.fetch("SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY t) AS r FROM (#{rows}))").single_value
      end

      assert_operator watched, :>, 20
    end
  end

  # A cancellation comes when the loop turns, and the end of a transaction must not turn it.
  def test_no_transaction_is_left_open
    database = numbers_file
    Pelton.run do
      5.times do |i|
        task = Pelton.spawn do
          database.transaction(rollback: (:always if i.odd?)) do
            database[:numbers].insert(n: i)
            Pelton::Clock.now.then { |start| nil until Pelton::Clock.now - start > 0.01 }
          end
        end
        Pelton.add_timer(0.001) { task.cancel }
        begin
          task.await
        rescue Pelton::Cancelled
          nil # the machine was slow
        end
        database.transaction { database[:numbers].insert(n: 100 + i) }
      end
    end

    assert_equal [100, 101, 102, 103, 104], database[:numbers].where { n >= 100 }.select_order_map(:n)
    refute_includes database[:numbers].select_map(:n), 1
  end

  def test_no_statement_comes_before_the_first_begin
    database = connect(sqlite_file)
    database.loggers << Logger.new(log = StringIO.new)
    database.transaction { database.run("SELECT 1") }

    assert_equal ["BEGIN IMMEDIATE TRANSACTION", "SELECT 1", "COMMIT"],
      log.string.scan(/s\) (.+)/).flatten.grep_v(/PRAGMA/)
    assert_equal database.get(Sequel.function(:sqlite_version)).split(".").map(&:to_i),
      database.sqlite_version.digits(100).reverse
  end

  def test_a_limit_ends_a_long_statement_and_the_connection_is_good_afterwards
    database = connect
    Pelton.run do
      assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.05) { database.fetch(long_statement).single_value } }

      assert_equal 1, database.get(1)
    end
    assert_equal 1, database.pool.shards[:default].size
  end

  def test_cancelling_ends_a_long_statement
    database = connect
    Pelton.run do
      task = Pelton.spawn { database.fetch(long_statement).single_value }
      sleep 0.02
      task.cancel
      assert_raises(Pelton::Cancelled) { task.await }

      assert_equal 1, database.get(1)
    end
  end

  def test_a_limit_ends_a_long_statement_outside_a_reactor
    database = connect
    assert_raises(Pelton::TimeoutError) { Pelton.timeout(0.05) { database.fetch(long_statement).single_value } }

    assert_equal 1, database.get(1)
  end

  def test_a_limit_for_each_query
    database = connect(query_timeout: 0.05)
    Pelton.run do
      error = assert_raises(Pelton::TimeoutError) { database.fetch(long_statement).single_value }

      assert_match(/the query took longer than 0.05 s: SELECT count/, error.message)
    end
  end

  def test_an_interrupted_write_rolls_its_transaction_back
    database = numbers_file
    Pelton.run do
      assert_raises(Pelton::TimeoutError) do
        Pelton.timeout(0.05) do
          database.transaction do
            database[:numbers].insert(n: 1).then { database.run("INSERT INTO numbers #{long_statement}") }
          end
        end
      end

      assert_equal 0, database[:numbers].count
      assert_equal 1, database[:numbers].insert(n: 2)
    end
  end

  def test_a_writer_waits_for_another_process_without_stopping_the_loop
    database = numbers_file
    locked(database, 0.2) do
      Pelton.run do
        assert_operator ticks { database[:numbers].insert(n: 1) }, :>, 10
      end
    end

    assert_equal [1], database[:numbers].select_map(:n)
  end

  def test_a_lock_that_stays_is_an_error_in_time_and_the_connection_is_good_afterwards
    database = connect(sqlite_file, timeout: 0.2)
    database.create_table(:numbers) { Integer :n }
    locked(database, nil) do
      Pelton.run do
        2.times do
          error = assert_raises(Sequel::DatabaseLockTimeout) { database[:numbers].insert(n: 1) }

          assert_match(/locked by another process for 0.2 s/, error.message)
        end
        assert_raises(Sequel::DatabaseLockTimeout) { database.transaction { database[:numbers].insert(n: 1) } }
        assert_equal 0, database[:numbers].count # readers do not wait
      end
    end

    database[:numbers].insert(n: 2)
    assert_equal [2], database[:numbers].select_map(:n)
  end

  def test_writers_of_one_process_queue
    database = connect(sqlite_file, timeout: 5)
    database.create_table(:numbers) { Integer :n }
    order = []
    Pelton.run do
      Pelton.map((1..50).to_a, concurrency: nil) do |i|
        database.transaction { order << i && sleep(0.0005) && database[:numbers].insert(n: i) }
      end
    end

    assert_equal (1..50).to_a, order
    assert_equal (1..50).to_a, database[:numbers].select_map(:n)
  end

  def test_readers_go_on_beside_a_writer
    database = numbers_file
    Pelton.run do
      writing = Pelton::Operation.new
      writer = Pelton.spawn { database.transaction { database[:numbers].insert(n: 1).then { writing.await } } }
      sleep 0
      assert_equal 0, database[:numbers].count
      writing.succeed
      writer.await

      assert_equal 1, database[:numbers].count
    end
  end

  # The columns' types are known by a statement without the conditions, and what will not come again is not kept.
  def test_long_statements_are_not_kept
    database = connect(sqlite_file)
    database.create_table(:items) do
      primary_key :id
      String :name
      Date :day
      FalseClass :done
    end
    day = Date.new(2020, 2, 29)
    3.times { |i| database[:items].insert(name: "x" * 20_000 + i.to_s, day: day, done: true) }
    conditions = [{name: "x" * 20_000 + "1"}, {id: [2, *10..20_000]}, Sequel.lit("name = '#{"x" * 20_000}1'")]
    conditions.each do |condition|
      rows =
        [
          database[:items].where(condition),
          database["SELECT * FROM items WHERE #{database.literal(Sequel.expr(condition))}"],
          database[:items].where(condition).order(:id).limit(5)
        ]

      assert_equal [[2, day, true]] * 3, rows.map { |found| found.first.values_at(:id, :day, :done) }
      assert_equal [2], database[:items].where(condition).group(:id).having { count.function.* > 0 }.select_map(:id)
    end
    kept = database.synchronize(:read_only) do |connection|
      connection.instance_variable_get(:@statements).keys + connection.instance_variable_get(:@types).keys
    end

    assert_empty kept.map(&:bytesize).select { |size| size > Pelton::Sequel::SQLite::Connection::LONG }
  end

  def test_prepared_statements_are_bounded
    database = connect
    (Pelton::Sequel::SQLite::Connection::STATEMENTS + 50).times { |i| database.fetch("SELECT #{i}").single_value }

    assert_equal Pelton::Sequel::SQLite::Connection::STATEMENTS,
      database.synchronize { |connection| connection.instance_variable_get(:@statements).size }
  end

  def test_the_message_of_a_limit_has_no_values
    database = connect(sqlite_file, query_timeout: 0.01)
    error = assert_raises(Pelton::TimeoutError) do
      Pelton.run { database.fetch("SELECT 's3cret', (#{long_statement})").all }
    end

    assert_match(/longer than 0.01 s: SELECT \?, \(SELECT count/, error.message)
  end

  private

  # Another process holds the write lock, for some seconds or until the block ends.
  def locked(database, seconds)
    path = database.opts[:database]
    program = "require 'extralite'; db = Extralite::Database.new(ARGV[0]); db.execute('BEGIN IMMEDIATE'); " \
      "$stdout.puts('locked'); $stdout.flush; #{seconds ? "sleep #{seconds}" : "$stdin.read"}; db.execute('COMMIT')"
    IO.popen([RbConfig.ruby, "-W0", "-e", program, path], "r+") do |process|
      assert_equal "locked\n", process.gets
      yield
    end
  end
end
